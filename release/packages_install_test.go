package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/bursar/bursar/bursartest/mainnet"
)

// root makes a root of its own over that of this machine, in which everything can be changed and nothing stays, and
// runs the script there.
const root = `set -e
mount -t tmpfs tmpfs "$1"
mkdir "$1/changes" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/changes,workdir=$1/work" "$1/root" || exit 77
mount --rbind /proc "$1/root/proc"
mount --rbind /dev "$1/root/dev"
mkdir "$1/root/packages"
cp "$2"/*.deb "$1/root/packages"
exec chroot "$1/root" sh -ec "$3"
`

// life is that of a package on a machine. BURSAR is the program with its configuration, as its user.
const life = `
BURSAR='setpriv --reuid bursar --regid bursar --init-groups env -C /var/lib/bursar
	BURSAR_PASSPHRASE_FILE=/etc/bursar/passphrase
	bursar --config /etc/bursar/bursar.yaml'
export DEBIAN_FRONTEND=noninteractive
dpkg -i packages/bursar_1.0.0~rc.1_*.deb
[ -z "$(dpkg --verify bursar)" ] && echo verified
echo changed >>/usr/share/doc/bursar/copyright
dpkg --verify bursar | grep -q copyright && echo a change is seen
stat -c '%n %U:%G %a' /var/lib/bursar /etc/bursar /etc/bursar/bursar.yaml /usr/bin/bursar
FIRST HOUR
stat -c 'made %n %U %a' /etc/bursar/* /var/lib/bursar/*
bash -c '. /usr/share/bash-completion/completions/bursar
	COMP_WORDS=(bursar reconc) COMP_CWORD=1; _bursar; echo completed to ${COMPREPLY[@]}'
zcat -f /usr/share/man/man1/bursar.1 | grep -c '^.SS "bursar ' | sed 's/^/commands in the manual: /'
$BURSAR account create --name shop >/dev/null

mkfifo log
ulimit -l unlimited || export BURSAR_SIGNER_LOCK_MEMORY=preferred # where not even root may, as in a container
start() {
	$BURSAR serve 2>log &
	process=$!
	exec 3<log
	address=
	while [ -z "$address" ] && read -r line <&3; do
		echo "$line"
		address=$(echo "$line" | sed -n 's/.*msg=listening address=//p')
	done
	cat <&3 >/dev/null &
	curl -sS "$address/healthz"
}
end() { kill "$process"; wait "$process"; }

dpkg -i packages/bursar-signer_1.0.0~rc.1_*.deb
touch /etc/bursar-signer/signer.yaml
dpkg -i packages/bursar-signer_1.0.0_*.deb
stat -c '%n %U:%G %a' /etc/bursar-signer/signer.yaml
setpriv --reuid bursar-signer --regid bursar --init-groups cat /etc/bursar-signer/signer.yaml && echo the signer reads
setpriv --reuid bursar --regid bursar --init-groups cat /etc/bursar-signer/signer.yaml || echo the service does not

start; end
dpkg -i packages/bursar_1.0.0_*.deb
dpkg-query -W -f 'upgraded to ${Version}\n' bursar
grep '^network' /etc/bursar/bursar.yaml
start
$BURSAR account list
end
dpkg --remove bursar
[ ! -e /usr/bin/bursar ] && [ -e /etc/bursar/bursar.yaml ] && echo removed
dpkg --purge bursar
[ ! -e /etc/bursar/bursar.yaml ] && ls /var/lib/bursar
`

// A package is installed, the service runs, the package is upgraded under changed settings, removed and purged, by the
// system's own tools. The seed and the books outlive all of that.
func TestAPackageIsInstalledUpgradedAndPurged(t *testing.T) {
	t.Parallel()
	need(t, "dpkg-deb", "unshare", "setpriv", "curl")
	if os.Geteuid() != 0 {
		t.Skip("only root can make a root of its own")
	}
	b, out := built(t)
	program := filepath.Join(out, "bursar-linux-"+runtime.GOARCH)
	if err := os.Remove(program); err != nil { // a stand-in
		t.Fatal(err)
	}
	prints(t, "go", "build", "-ldflags=-w", "-o", program, "../cmd/bursar")
	for _, version := range []string{"1.0.0~rc.1", "1.0.0"} {
		for _, p := range packages[:2] { // the signer as its unit runs it: its own user, the service's group
			if _, err := b.deb(t.Context(), p, out, runtime.GOARCH, version); err != nil {
				t.Fatal(err)
			}
		}
	}
	script := strings.Replace(life, "FIRST HOUR\n", firstHour(t), 1)
	c := exec.CommandContext(t.Context(), "unshare", "--mount", "sh", "-c", root, "sh", t.TempDir(), out, script)
	text, err := c.CombinedOutput()
	if c.ProcessState != nil && c.ProcessState.ExitCode() == 77 {
		t.Skipf("this machine lets nobody mount an overlay: %s", text)
	}
	if err != nil {
		t.Fatalf("%v, want no error:\n%s", err, text)
	}
	if n := strings.Count(string(text), "bursar is not set up yet: see 'bursar docs operations/first-hour'"); n != 1 {
		t.Errorf("the output is\n%s\nwant what comes next said once, not %d times", text, n)
	}
	if strings.Contains(string(text), "downgrading") {
		t.Errorf("the output is\n%s\nwant that 1.0.0 is an upgrade of its candidate", text)
	}
	for _, want := range []string{
		"/var/lib/bursar bursar:bursar 700", "/etc/bursar root:bursar 750", "/etc/bursar/bursar.yaml root:bursar 640",
		`{"status":"ok"}`, "upgraded to 1.0.0", "network: mainnet", "shop", "removed", "is kept",
		"verified", "a change is seen", "bursar.db", "seed.age",
		"made /etc/bursar/bursar.yaml bursar 600", "made /etc/bursar/passphrase bursar 600",
		"made /var/lib/bursar/seed.age bursar 600", "made /var/lib/bursar/bursar.db bursar 600",
		"The configuration is valid: mainnet, chains: 8",
		"completed to reconcile", "commands in the manual: 1",
		"/etc/bursar-signer/signer.yaml root:bursar-signer 640", "the signer reads", "the service does not",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the output is\n%s\nwant %q in it", text, want)
		}
	}
	for _, line := range regexp.MustCompile(`(?m)^.* (failed|warning) .*$`).FindAllString(string(text), -1) {
		if !strings.HasPrefix(line, "notices ") && !strings.HasPrefix(line, "policy of people ") {
			t.Errorf("doctor finds %s, want nothing but what only persons can do", line)
		}
	}
}

// firstHour returns the commands of docs/operations/first-hour.md up to doctor, as they are typed there, with a node of
// each chain. cmd/bursar runs the others.
func firstHour(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../docs/operations/first-hour.md")
	if err != nil {
		t.Fatal(err)
	}
	_, page, _ := strings.Cut(string(text), "## 2.")
	page, _, _ = strings.Cut(page, "## 5.")
	page = strings.ReplaceAll(page, "--owner bursar", "--owner bursar --listen 127.0.0.1:0 --admin-listen 127.0.0.1:0")
	var script strings.Builder
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(page, -1) {
		script.WriteString(block[1])
	}
	commands := script.String()
	for chain, url := range mainnet.Nodes(t) {
		commands = regexp.MustCompile("--chain "+chain+`=\S+`).ReplaceAllLiteralString(commands, "--chain "+chain+"="+url)
	}
	if strings.Count(commands, "bursar ") < 3 || !strings.Contains(commands, " doctor ") {
		t.Fatalf("the page has the commands\n%s\nwant init, config check and doctor", commands)
	}
	return commands
}
