package bursar_test

import (
	"go/ast"
	"slices"
	"testing"
)

// owners says which packages write a status, by the store's handle. Each change of a status is beside its reversal
// there. Package recovery restores whatever a database has lost.
var owners = map[string][]string{
	"Deposits":    {"deposit"},
	"Withdrawals": {"withdrawal", "recovery"},
	"Outgoing":    {"outgoing", "withdrawal", "recovery"},
	"Resolutions": {"outgoing", "recovery"},
}

// Only the owner of a status writes it: only package deposit calls tx.Deposits().SetStatus.
func TestOnlyTheOwnerWritesAStatus(t *testing.T) {
	found := map[string]bool{}
	for _, s := range sources(t) {
		if s.pkg == "store" || s.pkg == "store/storetest" {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			method, is := n.(*ast.SelectorExpr)
			if !is || method.Sel.Name != "SetStatus" {
				return true
			}
			handle, is := method.X.(*ast.CallExpr)
			if !is {
				return true
			}
			of, is := handle.Fun.(*ast.SelectorExpr)
			if !is {
				return true
			}
			found[of.Sel.Name] = true
			if !slices.Contains(owners[of.Sel.Name], s.pkg) {
				t.Errorf("%s:%d writes the status of %s, which is not its own", s.path, s.files.Position(n.Pos()).Line, of.Sel.Name)
			}
			return true
		})
	}
	for handle := range owners {
		if !found[handle] {
			t.Errorf("no package writes the status of %s", handle)
		}
	}
}
