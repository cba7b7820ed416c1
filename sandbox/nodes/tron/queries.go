package tron

import (
	"fmt"
	"strconv"
)

func (q *query) nowBlock() (any, error) { return q.view.whole(), nil }

// getBlock takes a number or an id, or neither for the newest, and includes the transactions only if asked.
func (q *query) getBlock() (any, error) {
	b := q.view
	if text := q.text("id_or_num"); text != "" {
		if len(text) == 64 {
			q.params["value"] = text
			found, err := q.byID()
			if err != nil {
				return nil, err
			}
			b = found
		} else {
			height, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("id_or_num: %.60q is neither a number nor an id", text)
			}
			b = q.at(height)
		}
	}
	detail, _ := q.params["detail"].(bool)
	switch {
	case b == nil:
		return object{}, nil
	case detail:
		return b.whole(), nil
	}
	return b.header(), nil
}

func (q *query) blockByNumber() (any, error) {
	height, err := q.number("num")
	if err != nil {
		return nil, err
	}
	if b := q.at(height); b != nil {
		return b.whole(), nil
	}
	return object{}, nil
}

func (q *query) byID() (*block, error) {
	id, err := q.id("value")
	if err != nil {
		return nil, err
	}
	for height := q.view.height; height >= 0; height-- {
		if q.node.blocks[height].id == id {
			return q.node.blocks[height], nil
		}
	}
	return nil, nil
}

func (q *query) blockByID() (any, error) {
	b, err := q.byID()
	if err != nil || b == nil {
		return object{}, err
	}
	return b.whole(), nil
}

// mostBlocks is java-tron's limit for lists.
const mostBlocks = 100

// blockRange lists the blocks from startNum up to, without, endNum.
func (q *query) blockRange() (any, error) {
	start, err1 := q.number("startNum")
	end, err2 := q.number("endNum")
	if err1 != nil || err2 != nil || start < 0 || end <= start || end-start > mostBlocks {
		return object{}, nil
	}
	return q.list(start, end), nil
}

func (q *query) list(start, end int64) object {
	list := []object{}
	for height := start; height < end; height++ {
		if b := q.at(height); b != nil {
			list = append(list, b.whole())
		}
	}
	return object{"block": list}
}

func (q *query) latestBlocks() (any, error) {
	count, err := q.number("num")
	if err != nil || count < 1 || count > mostBlocks {
		return object{}, err
	}
	end := int64(q.view.height) + 1
	return q.list(max(end-count, 0), end), nil
}

// find returns a transaction in the view, or nil.
func (q *query) find() (*included, *block, error) {
	id, err := q.id("value")
	if err != nil {
		return nil, nil, err
	}
	p, there := q.node.places[id]
	if !there || p.height > q.view.height {
		return nil, nil, nil
	}
	b := q.node.blocks[p.height]
	return &b.txs[p.index], b, nil
}

func (q *query) transactionByID() (any, error) {
	t, _, err := q.find()
	if err != nil || t == nil {
		return object{}, err
	}
	return t.whole(t.contractRet), nil
}

func (q *query) infoByID() (any, error) {
	t, b, err := q.find()
	if err != nil || t == nil {
		return object{}, err
	}
	return q.node.shown(t.info(b)), nil
}

func (q *query) infoByNumber() (any, error) {
	height, err := q.number("num")
	list := []object{}
	if b := q.at(height); b != nil && err == nil {
		for i := range b.txs {
			list = append(list, q.node.shown(b.txs[i].info(b)))
		}
	}
	return list, err
}

// shown leaves out what the node does not keep.
func (n *Node) shown(info object) object {
	if n.cfg.AsShipped {
		delete(info, "internal_transactions")
	}
	return info
}

func (q *query) countByNumber() (any, error) {
	height, err := q.number("num")
	count := -1
	if b := q.at(height); b != nil {
		count = len(b.txs)
	}
	return object{"count": count}, err
}

func (q *query) fromPending() (any, error) {
	id, err := q.id("value")
	for _, t := range q.node.pool {
		if t.id == id && err == nil {
			return t.whole(""), nil
		}
	}
	return object{}, err
}

func (q *query) pendingList() (any, error) {
	ids := []string{}
	for _, t := range q.node.pool {
		ids = append(ids, t.name())
	}
	return object{"txId": ids}, nil
}

func (q *query) nodeInfo() (any, error) {
	name := func(b *block) string { return fmt.Sprintf("Num:%d,ID:%s", b.height, b.name()) }
	return object{
		"block": name(q.view), "solidityBlock": name(q.node.blocks[q.node.solid]), "beginSyncNum": 0, "activeConnectCount": 0,
		"configNodeInfo": object{"codeVersion": "4.8.0-sandbox", "dbVersion": 2, "supportConstant": !q.node.cfg.AsShipped},
	}, nil
}
