# What can hold keys and books is not removed by a package manager, in whatever way it is asked.
if [ -d /var/lib/NAME ] && [ -n "$(ls -A /var/lib/NAME)" ]; then
	echo "/var/lib/NAME is kept: it can hold the seed, the books and what the signer remembers." >&2
fi
