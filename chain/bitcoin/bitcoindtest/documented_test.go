package bitcoindtest

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

var (
	iniBlock = regexp.MustCompile("(?s)```ini\n(.*?)```")
	iniKey   = regexp.MustCompile(`(?m)^([a-z]+)=`)
	nodeKey  = regexp.MustCompile("`([a-z]+)=")
)

// notCompiled are what a build of a node lacks: Debian's litecoind has no ZeroMQ, of which -help says nothing then
// (Litecoin Core 0.21.2.1, src/init.cpp, ENABLE_ZMQ).
var notCompiled = map[string]string{"litecoind": "zmqpubhashblock"}

// A node ignores what it does not know in its configuration, so a mistyped line of the documents would be found by
// nobody. Each that they name, in the files and in sentences, is one that the installed node explains.
func TestNodesKnowWhatTheDocumentsConfigure(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("needs real nodes: left out by -short")
	}
	for page, node := range map[string]software{"bitcoin.md": bitcoind(), "litecoin.md": litecoind()} {
		text, err := os.ReadFile("../../../docs/operations/" + page)
		if err != nil {
			t.Fatal(err)
		}
		help, err := exec.CommandContext(t.Context(), node.find(t), "-help", "-help-debug").CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", node.name, err, help)
		}
		block := iniBlock.FindSubmatch(text)
		if block == nil {
			t.Fatalf("%s has no configuration of a node, want one", page)
		}
		keys := iniKey.FindAllSubmatch(block[1], -1)
		if len(keys) < 6 {
			t.Errorf("%s configures %d things, want at least 6", page, len(keys))
		}
		for _, key := range append(keys, nodeKey.FindAllSubmatch(text, -1)...) {
			if name := string(key[1]); name != notCompiled[node.name] && !strings.Contains(string(help), "\n  -"+name) {
				t.Errorf("%s names %s, which %s does not explain", page, key[1], node.name)
			}
		}
	}
}
