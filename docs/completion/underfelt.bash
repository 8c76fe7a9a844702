# Completion of underfelt for bash. Printed from the commands by `make docs`; do not edit.
# Install: cp docs/completion/underfelt.bash /etc/bash_completion.d/underfelt

_underfelt() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=
  local -i files=0 chosen=0
  if (( COMP_CWORD == 1 )); then
    words="settle check-wagers par chips table status shell firmware doctor bundle retire identity journal replay draws config staff link keys accounts jackpot evidence report sim demo --help --version"
  else
    case "${COMP_WORDS[1]} ${COMP_WORDS[2]}" in
      "chips keygen") words="--secret --public --json --help" ;;
      "chips import") words="--key --by --dry-run --reason --new --chips-of --json --help" ;;
      "chips mark") words="--file --key --by --dry-run --reason --json --help" ;;
      "chips show") words="--pubkey --json --help" ;;
      "chips check") words="--pubkey --at-least --json --help" ;;
      "chips diff") words="--pubkey --json --help" ;;
      "chips roll-out") words="--to --pubkey --approved-by --json --help" ;;
      "chips export") words="--csv --pubkey --json --help" ;;
      "journal verify") words="--expect --json --help" ;;
      "journal tail") words="-n --follow -f --json --help" ;;
      "journal export-round") words="--record --result --json --help" ;;
      "journal stats") words="--json --help" ;;
      "journal day") words="--csv --json --help" ;;
      "config check") words="--no-files --json --help" ;;
      "config show") words="--effective --origin --json --help" ;;
      "config diff") words="--json --help" ;;
      "config init") words="--game --output --simulator --json --help" ;;
      "config key") words="--json --help" ;;
      "staff keygen") words="--secret --public --json --help" ;;
      "staff add") words="--key --by --pin-stdin --name --role --from --until --new --json --help" ;;
      "staff disable") words="--key --by --json --help" ;;
      "staff enable") words="--key --by --json --help" ;;
      "staff pin") words="--key --by --pin-stdin --json --help" ;;
      "staff check") words="--pubkey --json --help" ;;
      "staff show") words="--pubkey --json --help" ;;
      "staff roll-out") words="--to --pubkey --approved-by --json --help" ;;
      "link init") words="--account --password-stdin --store --name --address --port --json --help" ;;
      "link status") words="--config --socket --json --help" ;;
      "link check") words="--config --json --help" ;;
      "link backup") words="--config --json --help" ;;
      "link restore") words="--why --by --passwords-stdin --config --json --help" ;;
      "link journals") words="--config --socket --json --help" ;;
      "link accept") words="--note --by --passwords-stdin --config --socket --json --help" ;;
      "link resume") words="--skip --skip-hash --why --by --passwords-stdin --config --socket --json --help" ;;
      "link retire") words="--why --by --passwords-stdin --config --socket --json --help" ;;
      "link transfer") words="--cents --why --by --passwords-stdin --config --socket --json --help" ;;
      "link decommission") words="--why --by --passwords-stdin --config --socket --json --help" ;;
      "keys new") words="--secret --public --json --help" ;;
      "keys show") words="--json --help" ;;
      "keys enrol") words="--role --csv --by --passwords-stdin --config --socket --json --help" ;;
      "keys rotate") words="--role --overlap-hours --by --passwords-stdin --config --socket --json --help" ;;
      "keys revoke") words="--why --by --passwords-stdin --config --socket --json --help" ;;
      "keys list") words="--config --socket --json --help" ;;
      "accounts add") words="--role --by --passwords-stdin --config --socket --json --help" ;;
      "accounts passwd") words="--by --passwords-stdin --config --socket --json --help" ;;
      "accounts unlock") words="--by --passwords-stdin --config --socket --json --help" ;;
      "accounts disable") words="--by --passwords-stdin --config --socket --json --help" ;;
      "accounts list") words="--config --socket --json --help" ;;
      "jackpot list") words="--all --config --socket --json --help" ;;
      "jackpot show") words="--config --socket --json --help" ;;
      "jackpot verify") words="--note --by --passwords-stdin --password-file --config --socket --json --help" ;;
      "jackpot approve") words="--note --by --passwords-stdin --password-file --config --socket --json --help" ;;
      "jackpot paid") words="--note --by --passwords-stdin --password-file --config --socket --json --help" ;;
      "jackpot reject") words="--why --by --passwords-stdin --password-file --config --socket --json --help" ;;
      "report pool") words="--from --to --config --socket --backup --time-zone --day-start --html --csv --json --section --output --help" ;;
      "report hits") words="--from --to --config --socket --backup --time-zone --day-start --html --csv --json --section --output --help" ;;
      "report table") words="--par --alarm-one-in --from --to --config --socket --backup --time-zone --day-start --html --csv --json --section --output --help" ;;
      "report reconcile") words="--journal --from --to --config --socket --backup --time-zone --day-start --html --csv --json --section --output --help" ;;
      "report day") words="--par --alarm-one-in --from --to --config --socket --backup --time-zone --day-start --html --csv --json --section --output --help" ;;
      "demo floor") words="--folder --rounds --seconds --players --pace --no-staff --help" ;;
      *)
        case "${COMP_WORDS[1]}" in
          settle) words="--lines --json --help" ;;
          check-wagers) words="--json --help" ;;
          par) words="--config --json --svg --help" ;;
          chips) words="keygen import mark show check diff roll-out export" ;;
          table) words="--config --meter --selection --locked --help" ;;
          status) words="--config --socket --json --help" ;;
          shell) words="--config --socket --json --help" ;;
          firmware) words="--json --help" ;;
          doctor) words="--config --json --help" ;;
          bundle) words="--config --output --json --help" ;;
          retire) words="--config --json --help" ;;
          identity) words="--config --json --help" ;;
          journal) words="verify tail export-round stats day" ;;
          replay) words="--config --journal --key --closed-cards --at --seat --plain --json --help" ;;
          draws) words="--json --help" ;;
          config) words="check show diff init key" ;;
          staff) words="keygen add disable enable pin check show roll-out" ;;
          link) words="--config --help init status check backup restore journals accept resume retire transfer decommission" ;;
          keys) words="new show enrol rotate revoke list" ;;
          accounts) words="add passwd unlock disable list" ;;
          jackpot) words="list show verify approve paid reject" ;;
          evidence) words="--config --socket --backup --journal --frames --key --round --seat --since --time-zone --day-start --currency --output --json --help" ;;
          report) words="pool hits table reconcile day" ;;
          sim) words="--game --layout --run --scenario --random --players --pace --faults --seed --link-elsewhere --http --help" ;;
          demo) words="--game --seed --no-colour --help floor" ;;
        esac
        ;;
    esac
  fi
  case "$prev" in
    --game) words="MBS3 MEGA NSW PP6 RICO" chosen=1 ;;
    --role) words="auditor casino-supervisor dealer engineer games-supervisor inspector manager server sign supervisor table technician" chosen=1 ;;
    --since) words="beginning generation" chosen=1 ;;
    --backup|--config|--csv|--folder|--frames|--journal|--key|--output|--par|--password-file|--pubkey|--public|--secret|--simulator|--socket|--svg|--to) words= files=1 ;;
  esac
  if (( files )) || [[ $chosen == 0 && -n $words && $cur != -* && COMP_CWORD -gt 2 ]]; then
    COMPREPLY=($(compgen -f -- "$cur"))
  fi
  COMPREPLY+=($(compgen -W "$words" -- "$cur"))
}
complete -o filenames -F _underfelt underfelt
