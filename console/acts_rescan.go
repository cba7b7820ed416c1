package console

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/operator"
	"github.com/bursar/bursar/store"
)

// Rescan searches the blocks of a chain again: the one that holds a transaction, or those from one height to another.
// It returns how many it searched before its error.
type Rescan func(ctx context.Context, id bursar.ChainID, tx string, from, to uint64) (int, error)

// mostRescanned bounds the blocks that one form searches, so that it ends within the time of a request. The command on
// the host searches any number.
const mostRescanned = 50

// rescans lists what searches blocks again.
func (c *Console) rescans() []deed {
	return []deed{{name: "chain.rescan", verb: operator.VerbRescan, title: "Search blocks again", nav: "Chains",
		does: "The blocks of the chain that is named are read again, and what was missed is recorded and " +
			"credited as usual. " +
			"What is known already is left as it is. Name the transaction, or heights: at most 50 blocks at once. The " +
			"command on the host searches more.",
		button: "Search the blocks", twin: "bursar chain rescan --chain", again: true, do: c.rescan,
		fields: []field{{Name: "tx", Label: "Transaction", Optional: true, Hint: "Its hash: the block that holds it."},
			{Name: "from", Label: "From block", Optional: true, Hint: "Its height; leave it out beside a transaction."},
			{Name: "to", Label: "To block", Optional: true, Hint: "Empty: the one block."}, reasonField}}}
}

// rescan searches blocks; the object is the chain. The act is recorded first: what it finds is recorded block by block.
func (c *Console) rescan(v *visit, object string) (string, error) {
	id, tx := bursar.ChainID(object), v.form.Get("tx")
	if !c.hasChain(id) || c.Acts.Rescan == nil {
		return "", bursar.RefuseField(bursar.CodeInvalidRequest, "object", "name a chain that is configured, such as bitcoin")
	}
	from, to, err := rescanned(tx, v.form.Get("from"), v.form.Get("to"))
	if err != nil {
		return "", err
	}
	what := "transaction " + tx
	if tx == "" {
		what = "blocks " + strconv.FormatUint(from, 10) + " to " + strconv.FormatUint(to, 10)
	}
	err = c.DB.Do(v.ctx, func(t *store.Tx) error {
		return c.record(v.ctx, t, v, operator.VerbRescan, bursar.ID{}, "chain "+object, "", what)
	})
	if errors.Is(err, errTwice) { // the same form again searches again, and is one act
		err = c.searched(v, "chain "+object, what)
	}
	if err != nil {
		return "", err
	}
	if n, err := c.Acts.Rescan(v.ctx, id, tx, from, to); err != nil {
		c.Log.Warn("a rescan ended early", "chain", id, "searched", n, "error", err)
		return "", unsearched(n, err)
	}
	return "/chains", nil
}

// searched refuses a form whose token was used for anything else: what is searched by it would be in no log.
func (c *Console) searched(v *visit, object, what string) error {
	var list []store.Act
	err := c.DB.View(v.ctx, func(tx *store.Tx) (err error) {
		list, err = actsOf(v.ctx, tx, v)
		return err
	})
	same := func(a store.Act) bool {
		return a.Verb == string(operator.VerbRescan) && a.Object == object && a.Became == what
	}
	if err == nil && !slices.ContainsFunc(list, same) {
		err = bursar.RefuseField(bursar.CodeInvalidRequest, "token", "the form's token was sent for something else: load "+
			"the form again")
	}
	return err
}

// unsearched says why a search ended early. What else a node answers is in the log: its address may be a secret.
func unsearched(n int, err error) error {
	if errors.Is(err, chain.ErrNoBlock) || errors.Is(err, chain.ErrOffChain) {
		return bursar.Refuse(bursar.CodeInvalidRequest, "the chain has no such block or transaction")
	}
	return bursar.Refuse(bursar.CodeInvalidRequest,
		"the rescan ended after %d blocks: see the log for the reason, then send the form again or use the command", n)
}

// rescanned reads what is searched: a transaction, or a range of blocks.
func rescanned(tx, first, last string) (from, to uint64, err error) {
	if (tx == "") == (first == "") {
		return 0, 0, bursar.RefuseField(bursar.CodeInvalidRequest, "tx", "name either a transaction or the first block")
	}
	if tx != "" {
		if last != "" || len(tx) > 128 || !plainWord.MatchString(tx) {
			return 0, 0, bursar.RefuseField(bursar.CodeInvalidRequest, "tx", "a transaction is named by its hash alone")
		}
		return 0, 0, nil
	}
	if from, err = strconv.ParseUint(first, 10, 53); err != nil {
		return 0, 0, bursar.RefuseField(bursar.CodeInvalidRequest, "from", "%.40q is not a height", first)
	}
	if to = from; last != "" {
		if to, err = strconv.ParseUint(last, 10, 53); err != nil {
			return 0, 0, bursar.RefuseField(bursar.CodeInvalidRequest, "to", "%.40q is not a height", last)
		}
	}
	if to < from || to-from >= mostRescanned {
		return 0, 0, bursar.RefuseField(bursar.CodeInvalidRequest, "to", "the last block is one of the %d from the first on",
			mostRescanned)
	}
	return from, to, nil
}
