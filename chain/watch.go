package chain

// FoldedWatch is a Watch that can be asked without the canonical form of an address, where forms differ only in the
// case of letters. Adapters whose canonical form is costly to make ask it first and make the form of what it says yes
// to.
type FoldedWatch interface {
	// PaysFolded is Watch.Pays for an address in lower case. It may say yes to what Pays says no to, and never the
	// reverse. It keeps no reference to its argument.
	PaysFolded(lower []byte) bool
}

// OutputWatch is a Watch that asks which transactions use certain outputs of others: those that funded a UTXO of ours
// which left the best chain. Adapters of the UTXO model answer in Block.Spent.
type OutputWatch interface {
	// AsksSpends reports whether there is any such output, which is rare. Like Pays, it is asked after Sync.
	AsksSpends() bool
	// Spends may rarely say yes for another output; the core looks again.
	Spends(resource string) bool
}
