#!/bin/sh
# sh tests/install.sh PACKAGE...: Debian packages as programs only. Debian starts a service when it
# installs one, unless a policy says no. A policy that is there already is left as it is.
set -eu
if [ "$(id -u)" != 0 ]; then
    echo "missing; run: apt-get install -y $*" >&2
    exit 1
fi
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    trap 'rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
fi
DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=900 install -y --no-install-recommends "$@"
