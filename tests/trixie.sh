#!/bin/sh
# `make` of what is committed, with the Python, PostgreSQL and systemd of Debian trixie:
#   sh tests/trixie.sh FOLDER TARGET...
# The folder is the root of a small Debian and is kept for the next run. Its mounts are in a
# namespace of their own and end with it.
set -eu
root=$1
shift
if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null; then
    echo "root and debootstrap are needed; run as root: apt-get install -y debootstrap" >&2
    exit 1
fi
if [ ! -e "$root/.ready" ]; then
    debootstrap --variant=minbase \
        --include=ca-certificates,gcc,git,libc6-dev,make,python3,python3-venv trixie "$root"
    chroot "$root" apt-get -q update
    # Programs only: nothing that is installed may start a service on this machine.
    printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
    chmod 755 "$root/usr/sbin/policy-rc.d"
    touch "$root/.ready"
fi
# The way to the network is this machine's.
for file in hosts resolv.conf pip.conf ssl/certs/ca-certificates.crt; do
    [ ! -e "/etc/$file" ] || cp "/etc/$file" "$root/etc/$file"
done
rm -rf "$root/root/underfelt"
git clone -q . "$root/root/underfelt"
exec unshare --mount sh -euc '
    root=$1
    shift
    for folder in dev proc sys; do mount --rbind "/$folder" "$root/$folder"; done
    exec chroot "$root" /usr/bin/env -i HOME=/root LANG=C.UTF-8 TERM="${TERM:-dumb}" \
        PATH=/usr/sbin:/usr/bin:/sbin:/bin make -C /root/underfelt "$@"
' trixie "$root" "$@"
