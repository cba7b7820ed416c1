#!/bin/sh
# Makes the files that the tests upgrade ever after, of the version that this folder is of: what a service left behind
# that ran in the sandbox, with the events of every kind, payouts on chains of four families, and what operators did.
# docs/operations/releases.md says when to run it. Solana is left out, whose pool of addresses is half a megabyte.
#
#   record.sh NAME [postgres://USER@HOST/EMPTY]
#
# writes NAME.tar.gz, of SQLite, or NAME-postgres.tar.gz, of the empty database that is named, beside this script. NAME is
# schema- with the number of the newest file in store/migrations. It takes the Go of go.mod, curl, jq and, for PostgreSQL, its
# pg_dump. The test counts the charges: there are as many as the last release's files had, unless this script makes others.
#
# Where a migration came after the recording and before the tag, record again under its number, for both databases, and put the
# new files and the number in the place of the last two in earlierVersions (cmd/bursar/migrate_upgrade_test.go): what no
# release left behind need not be kept. With a PostgreSQL that is made for it and thrown away, which root may not run:
#
#   initdb -D /tmp/recorded -A trust -U recorder && pg_ctl -D /tmp/recorded -o '-p 54391 -k /tmp/recorded' -w start
#   createdb -h 127.0.0.1 -p 54391 -U recorder recorded
#   record.sh schema-93 && record.sh schema-93 'postgres://recorder@127.0.0.1:54391/recorded?sslmode=disable'
#   pg_ctl -D /tmp/recorded stop
set -eu
name=$1 database=${2-}
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../../.." && pwd)
work=$(mktemp -d)
data=$work/data
programs=${PROGRAMS:-$work} # a folder with sandbox and bursar spares their building
[ "$programs" != "$work" ] || {
	(cd "$root" && CGO_ENABLED=0 go build -o "$work/bursar" ./cmd/bursar)
	(cd "$root/sandbox" && CGO_ENABLED=0 go build -o "$work/sandbox" .)
}

"$programs/sandbox" --json --data "$data" --chains bitcoin,ethereum,tron,xrpl --listen 127.0.0.1:0 \
	--admin 127.0.0.1:0 --control 127.0.0.1:0 --shop 127.0.0.1:0 ${database:+--database "$database"} \
	>"$work/started" 2>"$work/log" &
sandbox=$!
trap 'kill $sandbox 2>/dev/null || true; rm -rf "$work"' EXIT
until [ -s "$work/started" ]; do
	kill -0 $sandbox || { cat "$work/log" >&2; exit 1; }
	sleep 1
done
given() { jq -r ".$1" "$work/started"; }
BURSAR_API=$(given api) BURSAR_CONTROL=$(given control) BURSAR_API_KEY=$(given apiKey) BURSAR_API_SECRET=$(given apiSecret)
export BURSAR_API BURSAR_CONTROL BURSAR_API_KEY BURSAR_API_SECRET
hook=$(curl -sSf "$BURSAR_CONTROL/webhooks/url" | jq -r .url)
trigger() { "$programs/bursar" trigger "$@" --json >>"$work/triggered"; }
api() { "$programs/bursar" api "$@"; }
# Commands of operators work beside the sandbox's service.
operator() {
	env -u BURSAR_API -u BURSAR_CONTROL -u BURSAR_API_KEY -u BURSAR_API_SECRET BURSAR_PASSPHRASE_FILE="$data/passphrase" \
		BURSAR_DATABASE="${database:-sqlite:$data/bursar.db}" "$programs/bursar" "$@" --config "$data/bursar.yaml" --json
}

# What clients and payers do. The shortest life of a charge is a minute, so its end is waited for beside the rest.
operator account set sandbox --notify-withdrawals --webhook "$hook" >"$work/said"
{ trigger expired && trigger late --currency ETH --amount 0.1; } &
late=$!
for event in deposit pending paid partial overpaid attention cancelled refunded withdrawal; do trigger $event; done
for code in ETH USDT XRP TRX; do trigger deposit --currency $code --amount 30; done
for code in ETH USDT XRP; do trigger withdrawal --currency $code --amount 30; done
api POST link currency=BTC amount=0.02 webhook="$hook" >"$work/said"
charge=$(api POST charge currency=XRP amount=5 webhook="$hook" | jq -r .response.charge.chargeID)
curl -sSf "$BURSAR_CONTROL/test/charge/pay" -d "{\"chargeID\":\"$charge\",\"how\":\"no_tag\"}" >"$work/said"
wait $late

# What operators do.
until operator unattributed list | jq -e '.[] | select(.amount == "5.00" and .status == "confirmed")' >"$work/said"; do
	sleep 1
done
operator unattributed assign "$(jq -r .depositID "$work/said")" --account sandbox >"$work/acts"
operator halt --all --reason "a drill" >>"$work/acts"
operator resume --all --reason "the drill is over" >>"$work/acts"
operator account create --name other >>"$work/acts"
operator key revoke "$(operator key create other --scopes read | jq -r .keyID)" >>"$work/acts"

# What freezes the account comes last. A transaction that is not final would make another answer tomorrow.
trigger deposit_reversed
trigger reversed
until api GET account/withdrawals limit=100 | jq -e '[.response.withdrawals[].status == "confirmed"] | all' >"$work/said"; do
	sleep 1
done
for path in account "account/deposits limit=100 status=confirmed" "account/withdrawals limit=100" "account/wallets limit=100" \
	"account/charges limit=100 status=paid" "account/ledger limit=100" "account/destinations limit=100"; do
	# shellcheck disable=SC2086 # the path and its parameters are words
	api GET $path | jq --arg path "$path" '{($path | sub(" "; "?") | gsub(" "; "&")): .response}'
done >"$work/answers"
# What passes with time, and what is this configuration's, is another tomorrow.
jq -S --arg key "$BURSAR_API_KEY" -s '{key: $key, answers: add}
	| walk(if type == "object" then del(.confirmations, .expires, .checkoutURL) else . end)' "$work/answers" >"$data/answers.json"

kill $sandbox
wait $sandbox || true
set -- seed.age seed.age.marks seed.age.state answers.json
if [ "$database" ]; then
	name=$name-postgres
	# Lines that begin with a backslash are for psql alone.
	pg_dump --inserts --rows-per-insert=200 --no-owner --no-privileges "$database" | grep -v '^\\' >"$data/bursar.sql"
	set -- bursar.sql "$@"
else
	set -- bursar.db "$@"
fi
tar --sort=name --owner=0 --group=0 -C "$data" -c "$@" | gzip -9n >"$here/$name.tar.gz"
ls -l "$here/$name.tar.gz"
