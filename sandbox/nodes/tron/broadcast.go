package tron

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
)

// broadcastHex accepts a whole transaction's bytes. Bytes that cannot be parsed are an Error; a refused transaction
// has a code.
func (q *query) broadcastHex() (any, error) {
	raw, err := hex.DecodeString(q.text("transaction"))
	if err != nil {
		return nil, errors.New("the transaction is not hexadecimal")
	}
	t, err := parse(raw)
	if err != nil {
		return nil, err
	}
	answer := object{"txid": t.name(), "transaction": hex.EncodeToString(t.bytes)}
	if code, message := q.node.take(t); code != "" {
		answer["result"], answer["code"], answer["message"] = false, code, message
		return answer, nil
	}
	answer["result"], answer["code"], answer["message"] = true, "SUCCESS", ""
	return answer, nil
}

// broadcastTransaction accepts a transaction in JSON. java-tron encodes raw_data again; the sandbox uses
// raw_data_hex.
func (q *query) broadcastTransaction() (any, error) {
	rawHex, _ := q.params["raw_data_hex"].(string)
	raw, err := hex.DecodeString(rawHex)
	if err != nil || len(raw) == 0 {
		return nil, errors.New("raw_data_hex is missing")
	}
	whole := message(nil).bytes(txRaw, raw)
	list, _ := q.params["signature"].([]any)
	for _, s := range list {
		text, _ := s.(string)
		signature, err := hex.DecodeString(text)
		if err != nil {
			return nil, errors.New("a signature is not hexadecimal")
		}
		whole = whole.bytes(txSignature, signature)
	}
	if err := q.sameAs(raw); err != nil {
		return nil, err
	}
	t, err := parse(whole)
	if err != nil {
		return nil, err
	}
	if code, words := q.node.take(t); code != "" {
		return object{"code": code, "txid": t.name(), "message": hex.EncodeToString([]byte(words))}, nil
	}
	return object{"result": true, "txid": t.name()}, nil
}

// sameAs compares the id and the amount of the JSON with the bytes, which are what is executed.
func (q *query) sameAs(raw []byte) error {
	id := sha256.Sum256(raw)
	if reported := q.text("txID"); reported != "" && reported != hex.EncodeToString(id[:]) {
		return fmt.Errorf("txID %.64q is not that of raw_data_hex", reported)
	}
	data, _ := q.params["raw_data"].(object)
	expiration, _ := data["expiration"].(json.Number)
	t, err := parse(message(nil).bytes(txRaw, raw))
	if err != nil {
		return err
	}
	if data != nil && expiration.String() != fmt.Sprint(t.expiration) {
		return errors.New("raw_data differs from raw_data_hex")
	}
	return nil
}

// take returns why a transaction is refused, or nothing.
func (n *Node) take(t *transaction) (code, message string) {
	err := n.accept(t)
	var refused *refusal
	switch {
	case err == nil:
		return "", ""
	case errors.As(err, &refused):
		return refused.code, refused.message
	}
	return "OTHER_ERROR", err.Error()
}
