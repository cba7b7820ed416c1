package bitcoin

import (
	"errors"
	"fmt"
	"strings"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/mempool"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"
)

// refusal is the reason, in bitcoind's words, why the mempool does not accept a transaction.
type refusal struct {
	reason string // a short fixed text
	detail string // detail that testmempoolaccept adds; may be empty
	lost   bool   // an input is unknown or spent, which has an error code of its own
}

// Error is the message of sendrawtransaction (TxValidationState::ToString of Bitcoin Core).
func (r *refusal) Error() string {
	if r.detail == "" {
		return r.reason
	}
	return r.reason + ", " + r.detail
}

func refuse(reason, detail string) *refusal { return &refusal{reason: reason, detail: detail} }

func missingInputs() *refusal {
	return &refusal{reason: "bad-txns-inputs-missingorspent", lost: true}
}

// translate turns an error of btcd's mempool into bitcoind's refusal. Errors of the node itself are returned as they
// are.
func (n *Node) translate(c *candidate, err error) error {
	if err == nil {
		return nil
	}
	var rule mempool.RuleError
	if !errors.As(err, &rule) {
		return fmt.Errorf("validate transaction: %w", err)
	}
	var chainRule blockchain.RuleError
	if errors.As(rule.Err, &chainRule) {
		return n.translateChain(c, chainRule)
	}
	text := rule.Error()
	switch {
	case strings.Contains(text, "sequence locks"):
		return refuse("non-BIP68-final", "")
	case strings.Contains(text, "sigop cost"):
		return refuse("bad-txns-too-many-sigops", "")
	case strings.Contains(text, "non-standard input"):
		return refuse("bad-txns-nonstandard-inputs", "")
	case strings.Contains(text, "witness data"):
		return refuse("no-witness-yet", "")
	}
	return refuse("rejected", text)
}

func (n *Node) translateChain(c *candidate, rule blockchain.RuleError) *refusal {
	switch rule.ErrorCode {
	case blockchain.ErrScriptMalformed, blockchain.ErrScriptValidation:
		return n.scriptRefusal(c)
	case blockchain.ErrMissingTxOut:
		return missingInputs()
	}
	return refuse("rejected", rule.Description)
}

// scriptRefusal runs the scripts again to name the first input that fails.
func (n *Node) scriptRefusal(c *candidate) *refusal {
	outs := map[wire.OutPoint]*wire.TxOut{}
	tx := c.tx.MsgTx()
	for i, in := range tx.TxIn {
		outs[in.PreviousOutPoint] = wire.NewTxOut(c.spent[i].value, c.spent[i].script)
	}
	fetcher := txscript.NewMultiPrevOutFetcher(outs)
	hashes := txscript.NewTxSigHashes(tx, fetcher)
	for i, in := range tx.TxIn {
		engine, err := txscript.NewEngine(c.spent[i].script, tx, i, txscript.StandardVerifyFlags, nil, hashes,
			c.spent[i].value, fetcher)
		if err == nil {
			err = engine.Execute()
		}
		if err != nil {
			return refuse(fmt.Sprintf("mandatory-script-verify-flag-failed (%s)", scriptError(err)),
				fmt.Sprintf("input %d of %v (wtxid %v), spending %v", i, tx.TxHash(), tx.WitnessHash(), in.PreviousOutPoint))
		}
	}
	return refuse("mandatory-script-verify-flag-failed (unknown error)", "")
}

// scriptError is ScriptErrorString of Bitcoin Core for the failures that incorrect signers run into.
func scriptError(err error) string {
	var e txscript.Error
	if !errors.As(err, &e) {
		return "unknown error"
	}
	switch e.ErrorCode {
	case txscript.ErrEvalFalse, txscript.ErrEmptyStack:
		return "Script evaluated without error but finished with a false/empty top stack element"
	case txscript.ErrEqualVerify:
		return "Script failed an OP_EQUALVERIFY operation"
	case txscript.ErrInvalidStackOperation:
		return "Operation not valid with the current stack size"
	case txscript.ErrNullFail:
		return "Signature must be zero for failed CHECK(MULTI)SIG operation"
	case txscript.ErrWitnessProgramEmpty:
		return "Witness program was passed an empty witness"
	case txscript.ErrWitnessProgramMismatch, txscript.ErrWitnessProgramWrongLength:
		return "Witness program hash mismatch"
	case txscript.ErrTaprootSigInvalid:
		return "Invalid Schnorr signature"
	}
	return e.Description
}
