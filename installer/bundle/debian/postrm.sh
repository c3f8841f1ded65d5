# Removing leaves each person's data. Purging deletes it, as far as an administrator can find it.
if [ "$1" = purge ]; then
    getent passwd | while IFS=: read -r _ _ _ _ _ person _; do
        for path in \
            "$person/.local/share/idlehive" \
            "$person/.config/autostart/idlehive.desktop" \
            "$person/.config/systemd/user/idlehive.service" \
            "$person/.config/systemd/user/default.target.wants/idlehive.service"
        do
            if [ "$person" != / ] && { [ -e "$path" ] || [ -L "$path" ]; }; then
                rm -rf "$path"
                echo "Deleted $path"
            fi
        done
    done
    echo "Secrets in people's keyrings, and profiles that IDLEHIVE_HOME named, are not deleted:"
    echo "\`idlehive remove-everything\` does that, before the package is removed."
fi
