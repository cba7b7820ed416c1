package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// contained runs a program in the root of its image as its user: the root is read-only, what compose.yaml and docker
// make writable is in memory, and nothing of this machine is in it.
const contained = `set -e
root=$1 program=$2
mkdir "$root/proc" "$root/dev" # as every container has them
mount --bind "$root" "$root"
mount -o remount,ro,bind "$root"
mount --rbind /proc "$root/proc"
mount --rbind /dev "$root/dev"
for folder in var/lib/bursar run/bursar tmp; do
	mount -t tmpfs -o uid=65532,gid=65532,mode=700 tmpfs "$root/$folder"
done
inside() { setpriv --no-new-privs chroot --userspec=65532:65532 "$root" "$program" "$@"; }
touch "$root/usr/bin/x" 2>/dev/null || echo nobody writes there
export BURSAR_PASSPHRASE=only-for-a-test
config=/var/lib/bursar/bursar.yaml
inside init --config $config --state /var/lib/bursar --network regtest --listen 127.0.0.1:0 \
	--admin-listen 127.0.0.1:0 --yes >/dev/null
inside --config $config account create --name shop >/dev/null
inside status --ready --api http://127.0.0.1:1 2>/dev/null || echo unhealthy before it runs
mkfifo "$root/tmp/log"
setpriv --no-new-privs chroot --userspec=65532:65532 "$root" "$program" --config $config serve 2>"$root/tmp/log" &
process=$!
exec 3<"$root/tmp/log"
address=
while [ -z "$address" ] && read -r line <&3; do
	echo "$line"
	address=$(echo "$line" | sed -n 's/.*msg=listening address=//p')
done
cat <&3 >/dev/null &
inside status --ready --api "$address"
sed -n 's/^Uid:\t\([0-9]*\).*/it runs as \1/p
	s/^CapEff:\t/its capabilities are /p; s/^NoNewPrivs:\t/no new privileges: /p' /proc/$process/status
kill "$process"; wait "$process" && echo it ended well
`

// What is in the image of the service runs there by itself, as a user without rights, in a root that nobody writes to,
// and its health check shows whether it is ready. No daemon of containers is needed for that.
func TestTheImageRuns(t *testing.T) {
	t.Parallel()
	need(t, "unshare", "setpriv", "chroot")
	if os.Geteuid() != 0 {
		t.Skip("only root can make a root of its own")
	}
	program := filepath.Join(t.TempDir(), "bursar")
	prints(t, "env", "CGO_ENABLED=0", "go", "build", "-ldflags=-w", "-o", program, "../cmd/bursar")
	content, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	made := &layout{at: moment, blobs: map[string][]byte{}}
	m, err := made.manifest("bursar", runtime.GOARCH, "1.2.3", content)
	if err != nil {
		t.Fatal(err)
	}
	var image struct{ Layers []blob }
	if err := json.Unmarshal(made.blobs[strings.TrimPrefix(m.Digest, "sha256:")], &image); err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	for _, l := range image.Layers {
		unpack(t, made.blobs[strings.TrimPrefix(l.Digest, "sha256:")], root)
	}
	entrypoint := imageOf(t, "bursar").entrypoint
	c := exec.CommandContext(t.Context(), "unshare", "--mount", "sh", "-c", contained, "sh", root, entrypoint[0])
	text, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v, want no error:\n%s", err, text)
	}
	for _, want := range []string{"nobody writes there", "unhealthy before it runs", "is ready\n",
		"it runs as 65532", "its capabilities are 0000000000000000", "no new privileges: 1", "it ended well"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the output is\n%s\nwant %q in it", text, want)
		}
	}
}

// unpack writes a layer's files into a folder, as they are.
func unpack(t *testing.T, layer []byte, root string) {
	t.Helper()
	unzipped, err := gzip.NewReader(bytes.NewReader(layer))
	if err != nil {
		t.Fatal(err)
	}
	for files := tar.NewReader(unzipped); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(root, h.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, h.FileInfo().Mode())
		} else {
			var body []byte
			if body, err = io.ReadAll(files); err == nil {
				err = os.WriteFile(path, body, h.FileInfo().Mode().Perm())
			}
		}
		if err == nil {
			err = errors.Join(os.Chmod(path, h.FileInfo().Mode()), os.Chown(path, h.Uid, h.Gid))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// docker-compose, which Debian has, understands compose.yaml: what it makes of it has the health check, the limits and
// the read-only roots.
func TestComposeUnderstandsTheFile(t *testing.T) {
	t.Parallel()
	need(t, "docker-compose")
	folder := t.TempDir()
	for name, content := range map[string]string{"compose.yaml": operations(t, "compose.yaml"), "bursar.env": "A=b\n",
		"database.password": "x", "passphrase": "x", "bursar.yaml": "", "signer.yaml": ""} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.CommandContext(t.Context(), "docker-compose", "-f", "compose.yaml", "config")
	c.Dir, c.Env = folder, append(os.Environ(), "BURSAR_VERSION=1.2.3")
	text, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("docker-compose: %v: %s, want that it understands the file", err, text)
	}
	for want, times := range map[string]int{"read_only: true": 2, "no-new-privileges:true": 2, "bursar:1.2.3": 1,
		"bursar-signer:1.2.3": 1, "- --ready": 1, "condition: service_healthy": 1, "network_mode: none": 1} {
		if got := strings.Count(string(text), want); got < times {
			t.Errorf("%q is there %d times, want %d:\n%s", want, got, times, text)
		}
	}
}
