# NAME is installed or upgraded. Nothing is started that did not run: it needs a configuration, a seed and an operator.
systemd-sysusers NAME.conf
install -d -o NAME -g NAME -m 0700 /var/lib/NAME
[ -d /etc/NAME ] || install -d /etc/NAME
chgrp NAME /etc/NAME
chmod 0750 /etc/NAME
find /etc/NAME -type f -exec chgrp NAME {} + -exec chmod o-rwx {} +
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	systemctl try-restart NAME.service
fi
if grep -qs '^# Not set up yet' /etc/NAME/NAME.yaml; then
	echo "NAME is not set up yet: see 'bursar docs operations/first-hour' for 'bursar init' and 'bursar doctor'."
fi
