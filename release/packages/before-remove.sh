# NAME is removed; an upgrade does not come here.
if [ -d /run/systemd/system ]; then
	systemctl disable --now NAME.service
fi
