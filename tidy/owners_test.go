package tidy_test

import (
	"fmt"
	"go/ast"
	"slices"
	"testing"
)

// owner is the package that writes a status, or a deposit's purpose, by the store's handle and its methods that write
// one.
type owner struct {
	handle, pkg string
	methods     []string
}

// Each change of a status is beside its reversal in the package that owns it.
var owners = []owner{
	{"Deposits", "deposit", []string{"Record", "RecordAll", "InsertInternal", "SetStatus", "SetStatuses"}},
	{"Deposits", "unattributed", []string{"SetOwner"}},
	{"Withdrawals", "withdrawal", []string{"Insert", "InsertAll", "SetStatus", "SetStatusAll"}},
	{"Outgoing", "outgoing", []string{"Insert", "InsertAdopted", "Include", "Exclude", "SetStatus"}},
	{"Resolutions", "unattributed", []string{"Insert", "SetStatus"}},
	{"Charges", "deposit", []string{"MarkPaid", "SetPaidBy"}},
	{"Invoices", "charge", []string{"Insert", "Quote", "SetWallet", "Cancel", "Resolve", "Refund", "Propose"}},
	{"Invoices", "deposit", []string{"Record", "Pay", "Take"}},
	{"ExternalSpends", "recovery", []string{"Put", "Set", "Move", "Deny"}},
	{"ExternalSpends", "outgoing", []string{"Drop"}},
	{"Recoveries", "recovery", []string{"Begin", "BeginJournaled", "Set", "End"}},
	{"Refills", "refill", []string{"Insert", "Send", "Abandon"}},
	{"Proposals", "operator/proposal", []string{"Insert", "Expire", "SetStatus"}},
}

// ownerOf returns the package that may call a method of a handle; false for a method that writes no status.
func ownerOf(handle, method string) (string, bool) {
	for _, o := range owners {
		if o.handle == handle && slices.Contains(o.methods, method) {
			return o.pkg, true
		}
	}
	return "", false
}

// handleOf returns the name of the handle that an expression takes from a transaction; "" for any other expression.
func handleOf(e ast.Expr) string {
	call, is := e.(*ast.CallExpr)
	if !is || len(call.Args) != 0 {
		return ""
	}
	of, is := call.Fun.(*ast.SelectorExpr)
	if !is || !slices.ContainsFunc(owners, func(o owner) bool { return o.handle == of.Sel.Name }) {
		return ""
	}
	return of.Sel.Name
}

// restoring names the functions of package recovery that write a status beside the owner: what a restored database has
// forgotten they bring to where it was, and package outgoing, which they cannot import, goes on from there
// (docs/decisions/0037-who-writes-a-status.md).
var restoring = []string{
	"recovery.adopt", "recovery.adoptVersion", "recovery.giveUp", "recovery.markSent", "recovery.giveBytes",
	"recovery.restore",
}

// Only the owner of a status writes it: only package deposit calls tx.Deposits().SetStatus. A handle is never kept in a
// variable, so that each call is seen here.
func TestOnlyTheOwnerWritesAStatus(t *testing.T) {
	atRoot(t)
	found := map[string]bool{}
	for _, s := range sources(t) {
		if s.pkg == "store" || forTests(s.pkg) {
			continue
		}
		var function string
		ast.Inspect(s.file, func(n ast.Node) bool {
			at := func() string { return fmt.Sprintf("%s:%d", s.path, s.files.Position(n.Pos()).Line) }
			switch n := n.(type) {
			case *ast.FuncDecl:
				function = s.pkg + "." + n.Name.Name
			case *ast.AssignStmt:
				for _, e := range n.Rhs {
					if handle := handleOf(e); handle != "" {
						t.Errorf("%s: %s keeps %s in a variable; call its methods at once", at(), function, handle)
					}
				}
			case *ast.SelectorExpr:
				handle := handleOf(n.X)
				pkg, writes := ownerOf(handle, n.Sel.Name)
				if !writes {
					return true
				}
				found[pkg+" "+handle], found[function] = true, true
				if s.pkg != pkg && !(pkg == "outgoing" && slices.Contains(restoring, function)) {
					t.Errorf("%s: %s calls %s.%s, which only %s may", at(), function, handle, n.Sel.Name, pkg)
				}
			}
			return true
		})
	}
	for _, function := range restoring {
		if !found[function] {
			t.Errorf("%s writes no status: take it off the list", function)
		}
	}
	for _, o := range owners {
		if !found[o.pkg+" "+o.handle] {
			t.Errorf("package %s writes nothing of %s: take it off the list", o.pkg, o.handle)
		}
	}
}
