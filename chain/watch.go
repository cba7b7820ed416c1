package chain

// FoldedWatch is a Watch that can be asked without the canonical form of an address, where forms differ only in the
// case of letters. Adapters whose canonical form is costly to compute ask it first and compute the form only where it
// reports true.
type FoldedWatch interface {
	// PaysFolded is Watch.Pays for an address in lower case. It may report true where Pays reports false, and never the
	// reverse. It keeps no reference to its argument.
	PaysFolded(lower []byte) bool
}

// ManyWatch is a Watch that can be asked about many addresses or transactions at once, which with millions of addresses
// is several times faster: their places in memory are fetched together. An adapter with thousands of questions for each
// block asks it first, and Pays and Sent only where it reports one.
//
// texts are the addresses or transaction IDs in lower case, one behind the other, each of size bytes. found is called
// with the place of each that is ours, in ascending order. Like PaysFolded they may report one for which Pays or Sent
// reports false, and never the reverse, and keep no reference to texts.
type ManyWatch interface {
	PaysAny(texts []byte, size int, found func(i int))
	SentAny(texts []byte, size int, found func(i int))
}

// OutputWatch is a Watch that asks which transactions spend certain outputs of others: those that funded a UTXO of
// ours which was reorged out. Adapters of the UTXO model answer in Block.Spent.
type OutputWatch interface {
	// AsksSpends reports whether the watch asks about any output, which is rare. Like Pays, it is asked after Sync.
	AsksSpends() bool
	// Spends reports whether the watch asks about an output. It may rarely report true for another one; the core checks
	// again.
	Spends(resource string) bool
}

// ColdWatch is a Watch that knows which addresses are of cold wallets: they may have other forms than those of the hot
// wallet's keys, and nothing that an intruder with the hot key signs spends from them.
type ColdWatch interface {
	// HasCold reports whether there is any such address.
	HasCold() bool
	// IsCold reports whether an address is a cold wallet's. The base is in the canonical form of the chain.
	IsCold(base string) bool
}

// HasCold reports whether a watch knows addresses of cold wallets.
func HasCold(watch Watch) bool {
	w, is := watch.(ColdWatch)
	return is && w.HasCold()
}

// IsCold reports whether a watch knows an address as a cold wallet's.
func IsCold(watch Watch, base string) bool {
	w, is := watch.(ColdWatch)
	return is && w.IsCold(base)
}

// ColdRules is an adapter of a chain on which the blocks do not show what spends from some forms of addresses.
type ColdRules interface {
	// Followable refuses the address of a cold wallet whose spends no block would show. The base is canonical.
	Followable(base string) error
}
