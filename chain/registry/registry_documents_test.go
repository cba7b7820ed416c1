package registry_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/registry"
)

var update = flag.Bool("update", false, "write the tables of docs/operations.md as the definitions are")

const operationsPath = "../../docs/operations.md"

// The tables of docs/operations.md show the definitions of all chains as the code has them. It may write the file that
// the other test reads, so it is not parallel.
func TestTheDocumentsShowTheDefinitions(t *testing.T) {
	written, err := os.ReadFile(operationsPath)
	if err != nil {
		t.Fatal(err)
	}
	drawn := string(written)
	for head, rows := range map[string]func(chain.Definition) []string{
		"| chain | final | `max_fee` |":              defaultsRow,
		"| chain | program, as it calls itself |":    testedRows,
		"| chain | fork | when | oldest versions th": forkRows,
	} {
		var table []string
		for _, d := range registry.All() {
			for _, cells := range rows(d) {
				table = append(table, fmt.Sprintf("| %s | %s |", d.ID, cells))
			}
		}
		drawn = redraw(t, drawn, head, table)
	}
	if *update {
		if err := os.WriteFile(operationsPath, []byte(drawn), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if drawn != string(written) {
		t.Errorf("%s does not show what the definitions say: go test ./chain/registry -run TestTheDocuments -update",
			operationsPath)
	}
}

// redraw replaces the rows of the table whose head begins so.
func redraw(t *testing.T, text, head string, rows []string) string {
	t.Helper()
	lines := strings.Split(text, "\n")
	start := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, head) })
	if start < 0 {
		t.Fatalf("%s has no table with the head %q", operationsPath, head)
	}
	start += 2 // the head and the line below it
	end := start
	for end < len(lines) && strings.HasPrefix(lines[end], "|") {
		end++
	}
	return strings.Join(slices.Replace(lines, start, end, rows...), "\n")
}

func defaultsRow(d chain.Definition) []string {
	final, push, tokens := "as the nodes report", "WebSocket", "no"
	if d.Confirmations > 0 {
		final = fmt.Sprintf("%d confirmations", d.Confirmations)
	}
	if d.ZMQ {
		push = "ZMQ"
	}
	if d.Contract != nil {
		tokens = "yes"
	}
	id := ""
	if fixed := d.ChainIDs[chain.Mainnet]; fixed > 0 {
		id = fmt.Sprint(fixed)
	}
	var own []string
	for _, name := range d.Settings {
		own = append(own, "`"+name+"`")
	}
	cells := []string{final, d.MaxFee + " " + nativeOf(d.ID), rateOf(d), d.MinTip, id, tokens,
		strings.Join(own, " "), push,
		keysOf(chain.KeyPaths()[d.Family])}
	for i, cell := range cells {
		if cell == "" {
			cells[i] = "–"
		}
	}
	return []string{strings.Join(cells, " | ")}
}

// nativeOf returns the code of the chain's native asset.
func nativeOf(id bursar.ChainID) string {
	all := bursar.Standard()
	i := slices.IndexFunc(all, func(c bursar.Currency) bool { return c.Chain == id && !c.IsToken() })
	return string(all[i].Code)
}

func rateOf(d chain.Definition) string {
	switch {
	case d.MaxFeeRate == "":
		return ""
	case d.RateDecimals > 0:
		return d.MaxFeeRate + " gwei"
	}
	return d.MaxFeeRate + " satoshi, up to " + fmt.Sprint(d.RateBound)
}

// keysOf writes a path as wallets do; only what differs by the network is repeated.
func keysOf(p chain.KeyPath) string {
	if p.Curve == chain.Ed25519 {
		return fmt.Sprintf("`m/%d'/%d'/i'/b'`, ed25519", p.Purpose, p.Coin)
	}
	path := fmt.Sprintf("`m/%d'/%d'/0'/b/i`", p.Purpose, p.Coin)
	if p.TestCoin != p.Coin {
		path += fmt.Sprintf(" (`m/%d'/%d'/0'/b/i`)", p.Purpose, p.TestCoin)
	}
	return path
}

func testedRows(d chain.Definition) (rows []string) {
	for _, v := range d.Tested {
		versions := v.From.String()
		if v.To != v.From {
			versions += " to " + v.To.String()
		}
		rows = append(rows, fmt.Sprintf("%s | %s | %s", v.Software, versions, v.How))
	}
	return rows
}

func forkRows(d chain.Definition) (rows []string) {
	for _, f := range d.Forks {
		when := f.Time.Format("2006-01-02 15:04 UTC")
		if f.Height > 0 {
			when = fmt.Sprintf("block %d, by %s", f.Height, f.Time.Format(time.DateOnly))
		}
		var needs []string
		for program, version := range f.Needs {
			needs = append(needs, program+" "+version.String())
		}
		slices.Sort(needs)
		rows = append(rows, fmt.Sprintf("%s | %s | %s | %s", f.Name, when, strings.Join(needs, ", "), f.Source))
	}
	return rows
}

// Every chain is in the tables that are written by hand, and has a page for the operator.
func TestTheDocumentsNameEveryChain(t *testing.T) {
	t.Parallel()
	read := func(path string) string {
		text, err := os.ReadFile("../../" + path)
		if err != nil {
			t.Error(err)
		}
		return string(text)
	}
	for _, table := range []struct {
		path, head string
		column     int
		of         func(chain.Definition) string
	}{
		{"README.md", "| code | chain | tested against |", 1, func(d chain.Definition) string { return d.Name }},
		{"README.md", "| chain | what runs |", 0, func(d chain.Definition) string { return string(d.ID) }},
		{"docs/operations.md", "| chain | software |", 0, func(d chain.Definition) string {
			return fmt.Sprintf("[%s](operations/%s.md)", d.ID, d.ID)
		}},
		{"docs/operations/recovery.md", "| chain | waits for |", 0, func(d chain.Definition) string { return d.Name }},
		{"docs/operations/recovery.md", "| chain | if it does not come back |", 0, func(d chain.Definition) string {
			return d.Name
		}},
	} {
		cells := cellsOf(read(table.path), table.head, table.column)
		for _, d := range registry.All() {
			if name := table.of(d); !slices.Contains(cells, name) {
				t.Errorf("the table %q of %s has no row for %s; it has %q", table.head, table.path, name, cells)
			}
		}
	}
	codes := cellsOf(read("README.md"), "| code | chain | tested against |", 0)
	for _, c := range bursar.Standard() {
		if !slices.Contains(codes, string(c.Code)) {
			t.Errorf("README.md does not list %s", c.Code)
		}
	}
	for _, d := range registry.All() {
		if page := read(fmt.Sprintf("docs/operations/%s.md", d.ID)); !strings.HasPrefix(page, "# "+d.Name+"\n") {
			t.Errorf("docs/operations/%s.md does not begin with the name %s", d.ID, d.Name)
		}
	}
}

// cellsOf returns what a column of a table names, item by item; words after a link are left out.
func cellsOf(text, head string, column int) (cells []string) {
	_, text, _ = strings.Cut(text, head)
	for _, line := range strings.Split(text, "\n")[1:] {
		row := strings.Split(line, "|")
		if len(row) < column+2 {
			break
		}
		for item := range strings.SplitSeq(row[column+1], ",") {
			item, _, _ = strings.Cut(strings.TrimSpace(item), " and ")
			cells = append(cells, item)
		}
	}
	return cells
}
