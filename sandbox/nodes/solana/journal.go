package solana

// The journal is a file of lines. A line is a JSON list of steps. The steps of a line happened together or not at
// all.
const journalName = "journal.v1"

// step is one change of the node. Exactly one member is set, but for Mined.
type step struct {
	Open   *blockPlan  `json:"open,omitempty"`   // a new chain: the genesis block
	Tx     []byte      `json:"tx,omitempty"`     // a transaction was accepted
	Event  *event      `json:"event,omitempty"`  // an event waits for the next block
	Block  *blockPlan  `json:"block,omitempty"`  // a block was made
	Mined  bool        `json:"mined,omitempty"`  // with what waited
	Roll   int         `json:"roll,omitempty"`   // so many blocks were rolled back
	Final  *int        `json:"final,omitempty"`  // index of the newest finalized block
	Forget []signature `json:"forget,omitempty"` // these no longer wait
}

// forget records which transactions left the pool.
func forget(ids map[signature]bool) step {
	var s step
	for id := range ids {
		s.Forget = append(s.Forget, id)
	}
	return s
}

func (n *Node) finalStep() step {
	place := n.bank.final
	return step{Final: &place}
}

// record writes what was just done, as one line.
func (n *Node) record(steps ...step) error { return n.journal.Append(steps) }
