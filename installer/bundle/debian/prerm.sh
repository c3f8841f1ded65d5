if [ "$1" = remove ] || [ "$1" = deconfigure ]; then
    python -m core.system.instances end "$home" || true
fi
find "$home" -name __pycache__ -type d -prune -exec rm -rf {} +
