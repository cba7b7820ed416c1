package clients

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/registry"
)

// saying is what a library reads in a payment link.
type saying struct {
	Address  string `json:"address"`
	Amount   string `json:"amount"`
	Units    string `json:"units"`
	Contract string `json:"contract"`
	Chain    string `json:"chain"`
	Tag      string `json:"tag"`
	Label    string `json:"label"`
	Error    string `json:"error"`
}

const mint = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v" // of USDC on Solana

// linked are a payment link of each kind, with what it must say.
var linked = []struct {
	currency bursar.CurrencyCode
	contract string // of a token in place of the currency
	to       bursar.Address
	units    uint64
	want     saying
}{
	{"BTC", "", bursar.Address{Base: "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"}, 1_230_000,
		saying{Amount: "0.0123", Label: "Fern & Fig+"}},
	{"LTC", "", bursar.Address{Base: "ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9"}, 100_000_000,
		saying{Amount: "1", Label: "Fern & Fig+"}},
	{"ETH", "", bursar.Address{Base: "0x52908400098527886E0F7030069857D2E4169EE7"}, 1_000_000_000_000_000_001,
		saying{Units: "1000000000000000001", Chain: "1"}},
	{"BNB", "", bursar.Address{Base: "0x52908400098527886E0F7030069857D2E4169EE7"}, 5,
		saying{Units: "5", Chain: "56"}},
	{"MATIC", "", bursar.Address{Base: "0x52908400098527886E0F7030069857D2E4169EE7"}, 5,
		saying{Units: "5", Chain: "137"}},
	{"USDC-MATIC", "", bursar.Address{Base: "0x52908400098527886E0F7030069857D2E4169EE7"}, 1_500_000,
		saying{Units: "1500000", Chain: "137", Contract: "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359"}},
	{"SOL", "", bursar.Address{Base: "7S3P4HxJpyyigGzodYwHtCxZyUQe9JiBMHyRWXArAaKv"}, 1,
		saying{Amount: "0.000000001", Label: "Fern & Fig+"}},
	{"SOL", mint, bursar.Address{Base: "7S3P4HxJpyyigGzodYwHtCxZyUQe9JiBMHyRWXArAaKv"}, 2_000_000_000,
		saying{Amount: "2", Contract: mint, Label: "Fern & Fig+"}},
	{"XRP", "", bursar.Address{Base: "rU6K7V3Po4snVhBBaU29sesqs2qTQJWDw1", HasMemo: true, Memo: 4_294_967_295}, 25_130_000,
		saying{Amount: "25.13", Tag: "4294967295"}},
	{"TRX", "", bursar.Address{Base: "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8"}, 1_250_001, saying{Amount: "1.250001"}},
}

// Libraries that others wrote read in our payment links what we wrote: bip21 3.0.0 (BIP 21), eth-url-parser 1.0.4
// (EIP-681) with ethers 6.17.0 for the addresses, @solana/pay 0.2.6 (Solana Pay), and xrpl.js 4.6.0 for the address in
// a link of XLS-2, of which no library is kept; a link of TRX has no standard, and tronweb knows its address.
func TestLibrariesReadOurLinks(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("needs Node.js and the client libraries")
	}
	var links []string
	for _, l := range linked {
		links = append(links, linkOf(l.currency, l.contract).PaymentURI(l.to, bursar.Units(l.units), "Fern & Fig+"))
	}
	for i, got := range readLinks(t, links) {
		want := linked[i].want
		want.Address = linked[i].to.Base
		if got != want {
			t.Errorf("%s is read as %+v, want %+v", links[i], got, want)
		}
	}
}

func linkOf(code bursar.CurrencyCode, contract string) bursar.Currency {
	for _, c := range bursar.Standard() {
		if c.Code != code {
			continue
		}
		if contract != "" {
			c.Contract = contract
		}
		d := registry.Of(c.Chain)
		c.Link = d.LinkOf(c, d.ChainIDs[chain.Mainnet])
		return c
	}
	return bursar.Currency{}
}

// readLinks has one process of Node.js read all links.
func readLinks(t *testing.T, links []string) (said []saying) {
	t.Helper()
	folder, err := Folder()
	if err != nil {
		t.Fatal(err)
	}
	readBy(t, folder, "links.mjs", links, &said)
	if len(said) != len(links) {
		t.Fatalf("node answers %+v, want %d answers", said, len(links))
	}
	return said
}

// readBy has a program of the folder javascript answer what it is asked, with the libraries of a folder.
func readBy(t *testing.T, folder, program string, question, answer any) {
	t.Helper()
	module, err := os.ReadFile(filepath.Join("javascript", program))
	if err != nil {
		t.Fatal(err)
	}
	asked, err := json.Marshal(question)
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	if err := os.Symlink(filepath.Join(folder, "node_modules"), filepath.Join(work, "node_modules")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(work, program), module, 0o600); err != nil {
		t.Fatal(err)
	}
	node := exec.CommandContext(t.Context(), "node", program)
	var errors strings.Builder
	node.Dir, node.Stdin, node.Stderr = work, bytes.NewReader(asked), &errors
	out, err := node.Output()
	if err != nil {
		t.Fatalf("node: %v\n%s", err, errors.String())
	}
	if err := json.Unmarshal(out, answer); err != nil {
		t.Fatalf("node answers %q: %v", out, err)
	}
}
