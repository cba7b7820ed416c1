package bursar_test

import (
	"go/ast"
	"slices"
	"testing"
)

// owners says which package writes a status, by the store's handle. Each change of a status is beside its reversal
// there.
var owners = map[string]string{
	"Deposits":    "deposit",
	"Withdrawals": "withdrawal",
	"Outgoing":    "outgoing",
	"Resolutions": "outgoing",
	"Proposals":   "operator/proposal",
}

// restoring names the functions of package recovery that write a status beside the owner: what a restored database has
// forgotten they bring to where it was, and package outgoing, which they cannot import, goes on from there
// (docs/decisions/0037-who-writes-a-status.md).
var restoring = []string{
	"recovery.assignRefund", "recovery.releaseRefund", "recovery.giveUp", "recovery.markSent", "recovery.giveBytes",
	"recovery.restore",
}

// Only the owner of a status writes it: only package deposit calls tx.Deposits().SetStatus.
func TestOnlyTheOwnerWritesAStatus(t *testing.T) {
	found := map[string]bool{}
	for _, s := range sources(t) {
		if s.pkg == "store" || s.pkg == "store/storetest" {
			continue
		}
		var function string
		ast.Inspect(s.file, func(n ast.Node) bool {
			if f, is := n.(*ast.FuncDecl); is {
				function = s.pkg + "." + f.Name.Name
			}
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
			found[of.Sel.Name], found[function] = true, true
			if s.pkg != owners[of.Sel.Name] && !(owners[of.Sel.Name] == "outgoing" && slices.Contains(restoring, function)) {
				t.Errorf("%s:%d: %s writes the status of %s, which is not its own", s.path, s.files.Position(n.Pos()).Line,
					function, of.Sel.Name)
			}
			return true
		})
	}
	for _, function := range restoring {
		if !found[function] {
			t.Errorf("%s writes no status: take it off the list", function)
		}
	}
	for handle := range owners {
		if !found[handle] {
			t.Errorf("no package writes the status of %s", handle)
		}
	}
}
