# Completion of underfelt for bash. Printed from the commands by `make docs`; do not edit.
# Install: cp docs/completion/underfelt.bash /etc/bash_completion.d/underfelt

_underfelt() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
  local key=${COMP_WORDS[1]} options= words=
  local -i files=0 value=0
  COMPREPLY=()
  if (( COMP_CWORD == 1 )); then
    words="settle check-wagers par chips table status shell firmware doctor bundle retire identity journal replay draws config staff link keys accounts jackpot evidence report web sim demo" options="--help --version"
  else
    # A verb of its own, once it is written.
    if (( COMP_CWORD > 2 )); then
      case "$key ${COMP_WORDS[2]}" in
        "chips keygen"|"chips import"|"chips mark"|"chips show"|"chips check"|"chips diff"|"chips roll-out"|"chips export"|"journal verify"|"journal tail"|"journal export-round"|"journal rounds"|"journal stats"|"journal day"|"config check"|"config show"|"config diff"|"config init"|"config key"|"staff keygen"|"staff add"|"staff disable"|"staff enable"|"staff pin"|"staff check"|"staff show"|"staff roll-out"|"link init"|"link install"|"link status"|"link check"|"link backup"|"link restore"|"link journals"|"link alarms"|"link accept"|"link resume"|"link retire"|"link transfer"|"link decommission"|"keys new"|"keys ticket"|"keys show"|"keys enrol"|"keys rotate"|"keys revoke"|"keys list"|"accounts request"|"accounts add"|"accounts reset"|"accounts passwd"|"accounts role"|"accounts unlock"|"accounts disable"|"accounts enable"|"accounts acknowledge"|"accounts recover"|"accounts list"|"jackpot list"|"jackpot show"|"jackpot verify"|"jackpot approve"|"jackpot paid"|"jackpot reject"|"report pool"|"report hits"|"report table"|"report reconcile"|"report day"|"demo floor") key+=" ${COMP_WORDS[2]}" ;;
      esac
    fi
    case "$key" in
      "settle") options="--lines --json --help" files=1 ;;
      "check-wagers") options="--json --help" files=1 ;;
      "par") options="--config --json --svg --help" words="MBS3 PP6 NSW MEGA RICO" ;;
      "chips") options="--help" words="keygen import mark show check diff roll-out export" ;;
      "chips keygen") options="--json --secret --public --help" ;;
      "chips import") options="--json --key --by --dry-run --reason --new --chips-of --help" files=1 ;;
      "chips mark") options="--json --file --key --by --dry-run --reason --help" words="in-play stolen retired" files=1 ;;
      "chips show") options="--json --pubkey --help" files=1 ;;
      "chips check") options="--json --pubkey --at-least --help" files=1 ;;
      "chips diff") options="--json --pubkey --help" files=1 ;;
      "chips roll-out") options="--json --to --pubkey --approved-by --help" files=1 ;;
      "chips export") options="--json --csv --pubkey --help" files=1 ;;
      "table") options="--config --meter --selection --locked --help" ;;
      "status") options="--config --socket --json --help" ;;
      "shell") options="--config --socket --json --help" ;;
      "firmware") options="--json --help" words="challenge" files=1 ;;
      "doctor") options="--config --json --help" ;;
      "bundle") options="--config --output --json --help" ;;
      "retire") options="--config --json --help" ;;
      "identity") options="--config --json --help" ;;
      "journal") options="--help" words="verify tail export-round rounds stats day" ;;
      "journal verify") options="--json --expect --help" files=1 ;;
      "journal tail") options="--json -n --follow -f --help" files=1 ;;
      "journal export-round") options="--json --record --result --help" files=1 ;;
      "journal rounds") options="--json -n --help" files=1 ;;
      "journal stats") options="--json --help" files=1 ;;
      "journal day") options="--json --csv --help" words="last now" files=1 ;;
      "replay") options="--config --journal --key --closed-cards --at --seat --plain --json --help" words="last" ;;
      "draws") options="--json --help" words="verify" files=1 ;;
      "config") options="--help" words="check show diff init key" ;;
      "config check") options="--json --no-files --help" files=1 ;;
      "config show") options="--json --effective --origin --help" files=1 ;;
      "config diff") options="--json --help" files=1 ;;
      "config init") options="--json --game --output --simulator --help" ;;
      "config key") options="--json --help" files=1 ;;
      "staff") options="--help" words="keygen add disable enable pin check show roll-out" ;;
      "staff keygen") options="--json --secret --public --help" ;;
      "staff add") options="--json --key --by --pin-stdin --name --role --from --until --new --help" files=1 ;;
      "staff disable") options="--json --key --by --help" files=1 ;;
      "staff enable") options="--json --key --by --help" files=1 ;;
      "staff pin") options="--json --key --by --pin-stdin --help" files=1 ;;
      "staff check") options="--json --pubkey --help" files=1 ;;
      "staff show") options="--json --pubkey --help" files=1 ;;
      "staff roll-out") options="--json --to --pubkey --approved-by --help" files=1 ;;
      "link") options="--config --help" words="init install status check backup restore journals alarms accept resume retire transfer decommission" ;;
      "link init") options="--account --passwords-stdin --password-file --store --name --address --port --json --help" files=1 ;;
      "link install") options="--root --json --help" files=1 ;;
      "link status") options="--config --socket --json --help" ;;
      "link check") options="--history --config --json --help" ;;
      "link backup") options="--config --json --help" files=1 ;;
      "link restore") options="--why --by --passwords-stdin --password-file --config --json --help" files=1 ;;
      "link journals") options="--config --socket --json --help" ;;
      "link alarms") options="--all --config --socket --json --help" ;;
      "link accept") options="--note --by --passwords-stdin --password-file --config --socket --json --help" ;;
      "link resume") options="--skip --skip-hash --why --by --passwords-stdin --password-file --config --socket --json --help" ;;
      "link retire") options="--why --by --passwords-stdin --password-file --config --socket --json --help" ;;
      "link transfer") options="--cents --why --by --passwords-stdin --password-file --config --socket --json --help" ;;
      "link decommission") options="--why --by --passwords-stdin --password-file --config --socket --json --help" ;;
      "keys") options="--help" words="new ticket show enrol rotate revoke list" ;;
      "keys new") options="--secret --public --json --help" ;;
      "keys ticket") options="--secret --public --json --help" ;;
      "keys show") options="--json --help" files=1 ;;
      "keys enrol") options="--role --csv --by --passwords-stdin --password-file --config --socket --json --help" files=1 ;;
      "keys rotate") options="--role --overlap-hours --by --passwords-stdin --password-file --config --socket --json --help" files=1 ;;
      "keys revoke") options="--why --by --passwords-stdin --password-file --config --socket --json --help" ;;
      "keys list") options="--config --socket --json --help" ;;
      "accounts") options="--help" words="request add reset passwd role unlock disable enable acknowledge recover list" ;;
      "accounts request") options="--out --json --passwords-stdin --password-file --help" ;;
      "accounts add") options="--role --fingerprint --by --passwords-stdin --password-file --config --socket --json --help" ;;
      "accounts reset") options="--fingerprint --by --passwords-stdin --password-file --config --socket --json --help" ;;
      "accounts passwd") options="--passwords-stdin --password-file --config --socket --json --help" ;;
      "accounts role") options="--role --by --passwords-stdin --password-file --config --socket --json --help" ;;
      "accounts unlock") options="--by --passwords-stdin --password-file --config --socket --json --help" ;;
      "accounts disable") options="--by --passwords-stdin --password-file --config --socket --json --help" ;;
      "accounts enable") options="--by --passwords-stdin --password-file --config --socket --json --help" ;;
      "accounts acknowledge") options="--by --passwords-stdin --password-file --config --socket --json --help" ;;
      "accounts recover") options="--why --config --json --account --passwords-stdin --password-file --help" ;;
      "accounts list") options="--config --socket --json --help" ;;
      "jackpot") options="--help" words="list show verify approve paid reject" ;;
      "jackpot list") options="--all --config --socket --json --help" ;;
      "jackpot show") options="--config --socket --json --help" ;;
      "jackpot verify") options="--note --by --passwords-stdin --password-file --config --socket --json --help" ;;
      "jackpot approve") options="--note --by --passwords-stdin --password-file --config --socket --json --help" ;;
      "jackpot paid") options="--note --by --passwords-stdin --password-file --config --socket --json --help" ;;
      "jackpot reject") options="--why --by --passwords-stdin --password-file --config --socket --json --help" ;;
      "evidence") options="--config --socket --backup --journal --frames --key --round --seat --since --time-zone --day-start --currency --output --json --help" ;;
      "report") options="--help" words="pool hits table reconcile day" ;;
      "report pool") options="--from --to --config --socket --backup --time-zone --day-start --html --csv --json --section --output --help" ;;
      "report hits") options="--from --to --config --socket --backup --time-zone --day-start --html --csv --json --section --output --help" ;;
      "report table") options="--par --alarm-one-in --from --to --config --socket --backup --time-zone --day-start --html --csv --json --section --output --help" ;;
      "report reconcile") options="--journal --from --to --config --socket --backup --time-zone --day-start --html --csv --json --section --output --help" ;;
      "report day") options="--full --par --alarm-one-in --from --to --config --socket --backup --time-zone --day-start --html --csv --json --section --output --help" ;;
      "web") options="--config --check --help" ;;
      "sim") options="--game --layout --run --scenario --random --players --pace --paused --faults --seed --link-elsewhere --link-cable --no-supervisor --http --help" words="fault do look list" ;;
      "demo") options="--game --seed --no-colour --help" words="floor" ;;
      "demo floor") options="--folder --tables --terminal --port --rounds --seconds --players --pace --seed --no-bots --no-staff --help" ;;
    esac
    # The value of an option: files, one of some words, or what only a person knows.
    case "$key $prev" in
      "config init --game")
        value=1 files=0 words="MBS3 PP6 NSW MEGA RICO" ;;
      "staff add --role")
        value=1 files=0 words="dealer games-supervisor casino-supervisor inspector technician" ;;
      "keys enrol --role"|"keys rotate --role")
        value=1 files=0 words="table sign server" ;;
      "accounts add --role"|"accounts role --role")
        value=1 files=0 words="supervisor manager engineer auditor" ;;
      "evidence --since")
        value=1 files=0 words="beginning generation" ;;
      "demo --game")
        value=1 files=0 words="MBS3 MEGA NSW PP6 RICO" ;;
      "par --config"|"par --svg"|"chips keygen --secret"|"chips keygen --public"|"chips import --key"|"chips mark --file"|"chips mark --key"|"chips show --pubkey"|"chips check --pubkey"|"chips diff --pubkey"|"chips roll-out --to"|"chips roll-out --pubkey"|"chips export --pubkey"|"table --config"|"status --config"|"status --socket"|"shell --config"|"shell --socket"|"doctor --config"|"bundle --config"|"bundle --output"|"retire --config"|"identity --config"|"replay --config"|"replay --journal"|"replay --key"|"config init --output"|"config init --simulator"|"staff keygen --secret"|"staff keygen --public"|"staff add --key"|"staff disable --key"|"staff enable --key"|"staff pin --key"|"staff check --pubkey"|"staff show --pubkey"|"staff roll-out --to"|"staff roll-out --pubkey"|"link --config"|"link init --password-file"|"link install --root"|"link status --config"|"link status --socket"|"link check --config"|"link backup --config"|"link restore --password-file"|"link restore --config"|"link journals --config"|"link journals --socket"|"link alarms --config"|"link alarms --socket"|"link accept --password-file"|"link accept --config"|"link accept --socket"|"link resume --password-file"|"link resume --config"|"link resume --socket"|"link retire --password-file"|"link retire --config"|"link retire --socket"|"link transfer --password-file"|"link transfer --config"|"link transfer --socket"|"link decommission --password-file"|"link decommission --config"|"link decommission --socket"|"keys new --secret"|"keys new --public"|"keys ticket --secret"|"keys ticket --public"|"keys enrol --csv"|"keys enrol --password-file"|"keys enrol --config"|"keys enrol --socket"|"keys rotate --password-file"|"keys rotate --config"|"keys rotate --socket"|"keys revoke --password-file"|"keys revoke --config"|"keys revoke --socket"|"keys list --config"|"keys list --socket"|"accounts request --out"|"accounts request --password-file"|"accounts add --password-file"|"accounts add --config"|"accounts add --socket"|"accounts reset --password-file"|"accounts reset --config"|"accounts reset --socket"|"accounts passwd --password-file"|"accounts passwd --config"|"accounts passwd --socket"|"accounts role --password-file"|"accounts role --config"|"accounts role --socket"|"accounts unlock --password-file"|"accounts unlock --config"|"accounts unlock --socket"|"accounts disable --password-file"|"accounts disable --config"|"accounts disable --socket"|"accounts enable --password-file"|"accounts enable --config"|"accounts enable --socket"|"accounts acknowledge --password-file"|"accounts acknowledge --config"|"accounts acknowledge --socket"|"accounts recover --config"|"accounts recover --password-file"|"accounts list --config"|"accounts list --socket"|"jackpot list --config"|"jackpot list --socket"|"jackpot show --config"|"jackpot show --socket"|"jackpot verify --password-file"|"jackpot verify --config"|"jackpot verify --socket"|"jackpot approve --password-file"|"jackpot approve --config"|"jackpot approve --socket"|"jackpot paid --password-file"|"jackpot paid --config"|"jackpot paid --socket"|"jackpot reject --password-file"|"jackpot reject --config"|"jackpot reject --socket"|"evidence --config"|"evidence --socket"|"evidence --backup"|"evidence --journal"|"evidence --frames"|"evidence --key"|"evidence --output"|"report pool --config"|"report pool --socket"|"report pool --backup"|"report pool --output"|"report hits --config"|"report hits --socket"|"report hits --backup"|"report hits --output"|"report table --par"|"report table --config"|"report table --socket"|"report table --backup"|"report table --output"|"report reconcile --journal"|"report reconcile --config"|"report reconcile --socket"|"report reconcile --backup"|"report reconcile --output"|"report day --par"|"report day --config"|"report day --socket"|"report day --backup"|"report day --output"|"web --config"|"sim --layout"|"sim --run"|"sim --scenario"|"demo floor --folder")
        value=1 words= files=1 ;;
      "chips import --by"|"chips import --reason"|"chips import --new"|"chips import --chips-of"|"chips mark --by"|"chips mark --reason"|"chips check --at-least"|"chips roll-out --approved-by"|"table --meter"|"table --selection"|"journal verify --expect"|"journal tail -n"|"journal rounds -n"|"replay --at"|"replay --seat"|"staff add --by"|"staff add --name"|"staff add --from"|"staff add --until"|"staff add --new"|"staff disable --by"|"staff enable --by"|"staff pin --by"|"staff roll-out --approved-by"|"link init --account"|"link init --store"|"link init --name"|"link init --address"|"link init --port"|"link restore --why"|"link restore --by"|"link accept --note"|"link accept --by"|"link resume --skip"|"link resume --skip-hash"|"link resume --why"|"link resume --by"|"link retire --why"|"link retire --by"|"link transfer --cents"|"link transfer --why"|"link transfer --by"|"link decommission --why"|"link decommission --by"|"keys enrol --by"|"keys rotate --overlap-hours"|"keys rotate --by"|"keys revoke --why"|"keys revoke --by"|"accounts add --fingerprint"|"accounts add --by"|"accounts reset --fingerprint"|"accounts reset --by"|"accounts role --by"|"accounts unlock --by"|"accounts disable --by"|"accounts enable --by"|"accounts acknowledge --by"|"accounts recover --why"|"accounts recover --account"|"jackpot verify --note"|"jackpot verify --by"|"jackpot approve --note"|"jackpot approve --by"|"jackpot paid --note"|"jackpot paid --by"|"jackpot reject --why"|"jackpot reject --by"|"evidence --round"|"evidence --seat"|"evidence --time-zone"|"evidence --day-start"|"evidence --currency"|"report pool --from"|"report pool --to"|"report pool --time-zone"|"report pool --day-start"|"report pool --section"|"report hits --from"|"report hits --to"|"report hits --time-zone"|"report hits --day-start"|"report hits --section"|"report table --alarm-one-in"|"report table --from"|"report table --to"|"report table --time-zone"|"report table --day-start"|"report table --section"|"report reconcile --from"|"report reconcile --to"|"report reconcile --time-zone"|"report reconcile --day-start"|"report reconcile --section"|"report day --alarm-one-in"|"report day --from"|"report day --to"|"report day --time-zone"|"report day --day-start"|"report day --section"|"sim --game"|"sim --random"|"sim --players"|"sim --pace"|"sim --seed"|"sim --link-cable"|"sim --http"|"demo --seed"|"demo floor --tables"|"demo floor --port"|"demo floor --rounds"|"demo floor --seconds"|"demo floor --players"|"demo floor --pace"|"demo floor --seed")
        value=1 words= files=0 ;;
    esac
  fi
  if (( ! value )) && [[ $cur == -* || -z $words && $files == 0 ]]; then
    words=$options files=0
  fi
  if (( files )); then
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
    compopt -o filenames 2> /dev/null  # for files alone: a command may be called like a folder
  fi
  COMPREPLY+=($(compgen -W "$words" -- "$cur"))
}
complete -F _underfelt underfelt
