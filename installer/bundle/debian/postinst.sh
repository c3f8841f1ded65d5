if [ "$1" = configure ]; then
    # Compiled once here: whoever starts Idlehive cannot write in this folder.
    python -m compileall -q "$home" || true
    if [ -n "$2" ]; then
        python -m core.system.instances restart "$home" || true
    fi
fi
