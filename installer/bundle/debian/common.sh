set -e

home=/usr/lib/idlehive

python() {
    PYTHONPATH="$home:$home/lib" "$home/python/bin/python3" -s -P "$@"
}

