set -e

home=/usr/lib/idlehive

# The Python that starts Idlehive, as in its launcher.
python() {
    for name in python3 @PYTHONS@; do
        if command -v "$name" >/dev/null && "$name" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))'; then
            PYTHONPATH="$home:$home/lib" "$name" -s -P "$@"
            return
        fi
    done
}

