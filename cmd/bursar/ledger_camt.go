package main

import (
	"bufio"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// formatCamt is a statement by ISO 20022, camt.053.001.08. It knows the currencies of ISO 4217 only, so its amounts are
// what each movement was worth when it was posted.
const (
	formatCamt    = "camt.053"
	camtNamespace = "urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"
)

// camtStatement is the part of a statement before its entries.
type camtStatement struct {
	number  int
	opening *big.Int // in the smallest coins
	closing *big.Int
	left    int // movements before the period without a value
}

// camt writes the account's statement of a period in one fiat currency. Every movement of the period must have a value:
// a statement that leaves some out would not add up.
func (x *export) camt(ctx context.Context, to io.Writer) error {
	s, err := x.camtSums(ctx)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(to)
	w := &camtWriter{out: out, xml: xml.NewEncoder(out), x: x}
	w.xml.Indent("", " ")
	w.head(s)
	q := store.LineQuery{Accounts: x.sides(), Since: x.since, Until: x.until}
	err = x.movements(ctx, q, func(m camtMovement) error {
		w.entry(m)
		return w.err
	})
	if err != nil {
		return err
	}
	w.end(s)
	return errors.Join(w.err, out.Flush())
}

// sides are the accounts in the books of the owner.
func (x *export) sides() []ledger.Account {
	return []ledger.Account{ledger.Available(x.owner), ledger.Held(x.owner)}
}

// camtSums reads the whole history for the balances before and after the period.
func (x *export) camtSums(ctx context.Context) (s camtStatement, err error) {
	s.opening, s.closing = new(big.Int), new(big.Int)
	err = x.db.View(ctx, func(tx *store.Tx) error {
		_, err := tx.Accounts().Get(ctx, x.owner)
		return err
	})
	if err != nil {
		return s, err
	}
	archived, err := x.begin(ctx, x.sides())
	if err != nil {
		return s, err
	}
	if len(archived) > 0 {
		return s, errors.New("the account has entries in archives of the books: name all of these with --archive FILE")
	}
	err = x.movements(ctx, store.LineQuery{Accounts: x.sides(), Until: x.since}, func(m camtMovement) error {
		if m.value == nil {
			s.left++
			return nil
		}
		s.opening.Add(s.opening, m.value)
		return nil
	})
	if err != nil {
		return s, err
	}
	s.closing.Set(s.opening)
	missing, first := 0, ""
	period := store.LineQuery{Accounts: x.sides(), Since: x.since, Until: x.until}
	err = x.movements(ctx, period, func(m camtMovement) error {
		if m.value == nil {
			if missing++; missing == 1 {
				first = fmt.Sprintf("%s %s of %s", m.Kind, m.Ref, instant(m.At))
			}
			return nil
		}
		s.closing.Add(s.closing, m.value)
		s.number++
		return nil
	})
	if err == nil && missing > 0 {
		err = fmt.Errorf("%d movements of the period have no value in %s, because no rate counted when they were posted, so "+
			"a statement would not add up; the first is %s. Export as CSV, where their value is empty", missing,
			x.value.Code, first)
	}
	return s, err
}

// camtMovement is a line that changes what the account owns.
type camtMovement struct {
	store.Line
	ledger.Movement
	detail
	value *big.Int // with its sign, in the smallest coins; nil: not known
	text  string   // the amount with its currency
}

// movements calls f with the lines of a query that change what the account owns: not with those that only hold some.
func (x *export) movements(ctx context.Context, q store.LineQuery, f func(camtMovement) error) error {
	return x.each(ctx, q, func(ctx context.Context, lines []store.Line) error {
		k, err := x.details(ctx, lines)
		if err != nil {
			return err
		}
		for _, l := range lines {
			m, err := x.movement(l, k)
			if err != nil {
				return err
			}
			if m.text == "" {
				continue
			}
			if err := f(m); err != nil {
				return err
			}
		}
		return nil
	})
}

// movement returns a line as a movement, without text where the account owns the same after it.
func (x *export) movement(l store.Line, k facts) (m camtMovement, err error) {
	m.Line = l
	if m.Movement, err = ledger.MovementOf(x.owner, l.Kind, l.Ref, l.Place, l.Posting); err != nil {
		return m, err
	}
	running := ledger.Running{}
	owned, err := running.Add(l.Asset, m.Movement)
	if err != nil {
		return m, err
	}
	available, minus := owned.Available.Net(ledger.Liability)
	held, heldMinus := owned.Held.Net(ledger.Liability)
	if available == held && minus != heldMinus {
		return m, nil
	}
	currency, err := x.currency(l.Asset)
	if err != nil {
		return m, err
	}
	if m.detail, err = x.detail(l, k); err != nil {
		return m, err
	}
	m.text = currency.Exact(l.Amount) + " " + string(l.Asset)
	if m.value, _, err = x.worth(l, k); err == nil && m.value != nil && (minus || heldMinus) {
		m.value.Neg(m.value)
	}
	return m, err
}

// camtWriter writes XML and keeps its first error.
type camtWriter struct {
	out *bufio.Writer
	xml *xml.Encoder
	x   *export
	err error
}

func (w *camtWriter) put(name string, value any) {
	if w.err == nil {
		w.err = w.xml.EncodeElement(value, xml.StartElement{Name: xml.Name{Local: name}})
	}
}

func (w *camtWriter) raw(text string) {
	if w.err == nil {
		w.err = errors.Join(w.xml.Flush(), writeAll(w.out, text))
	}
}

func writeAll(out *bufio.Writer, text string) error {
	_, err := out.WriteString(text)
	return err
}

// head writes what stands before the entries.
func (w *camtWriter) head(s camtStatement) {
	x := w.x
	id := strings.ReplaceAll(x.owner.String(), "-", "")
	period := x.until.UTC().Format("060102")
	made := x.db.Now().UTC().Format("2006-01-02T15:04:05Z")
	w.raw(xml.Header + `<Document xmlns="` + camtNamespace + `"><BkToCstmrStmt>` + "\n")
	w.put("GrpHdr", struct {
		ID      string `xml:"MsgId"`
		CreDtTm string
	}{id[:22] + period, made})
	w.raw("\n<Stmt>\n")
	w.put("Id", id[:22]+period+string(x.value.Code))
	w.put("CreDtTm", made)
	w.put("FrToDt", struct{ FrDtTm, ToDtTm string }{instant(x.since), instant(x.until)})
	w.put("Acct", camtAccount{ID: id, Ccy: x.value.Code})
	w.balance("OPBD", s.opening, x.since)
	w.balance("CLBD", s.closing, x.until)
}

type camtAccount struct {
	ID  string `xml:"Id>Othr>Id"`
	Ccy bursar.CurrencyCode
}

type camtAmount struct {
	Ccy  bursar.CurrencyCode `xml:"Ccy,attr"`
	Text string              `xml:",chardata"`
}

func (w *camtWriter) amount(coins *big.Int) camtAmount {
	text, err := w.x.fiat(coins)
	if err != nil && w.err == nil {
		w.err = err
	}
	return camtAmount{w.x.value.Code, text}
}

// side is CRDT for what the account has gained.
func side(coins *big.Int) string {
	if coins.Sign() < 0 {
		return "DBIT"
	}
	return "CRDT"
}

func (w *camtWriter) balance(code string, coins *big.Int, at time.Time) {
	w.put("Bal", struct {
		Code      string `xml:"Tp>CdOrPrtry>Cd"`
		Amt       camtAmount
		CdtDbtInd string
		At        string `xml:"Dt>DtTm"`
	}{code, w.amount(coins), side(coins), instant(at)})
}

type camtEntry struct {
	NtryRef     string
	Amt         camtAmount
	CdtDbtInd   string
	RvslInd     bool            `xml:",omitempty"`
	Status      string          `xml:"Sts>Cd"`
	Booked      string          `xml:"BookgDt>DtTm"`
	Value       string          `xml:"ValDt>DtTm"`
	AcctSvcrRef string          `xml:",omitempty"`
	Kind        string          `xml:"BkTxCd>Prtry>Cd"`
	EndToEnd    string          `xml:"NtryDtls>TxDtls>Refs>EndToEndId"`
	Remittance  *camtRemittance `xml:"NtryDtls>TxDtls>RmtInf"`
	Text        string          `xml:"AddtlNtryInf"`
}

type camtRemittance struct{ Ustrd string }

// entry writes one movement. What it was in the account's currency, and where that moved, is text.
func (w *camtWriter) entry(m camtMovement) {
	about, end := m.Movement.Deposit, "NOTPROVIDED"
	if about.IsZero() {
		about = m.Movement.Withdrawal
	}
	if !m.Movement.Withdrawal.IsZero() && m.Counterparty != "" && len(m.Counterparty) <= 35 {
		end = m.Counterparty
	}
	text := fmt.Sprintf("%s at %s %s, %s", m.text, m.Rate, w.x.value.Code, m.Part)
	if m.Address != "" {
		text += ", to " + m.Address
	}
	if m.HashID != "" {
		text += ", in " + m.HashID
	}
	var remittance *camtRemittance
	if m.Counterparty != "" {
		remittance = &camtRemittance{cut(m.Counterparty, 140)}
	}
	service := ""
	if !about.IsZero() {
		service = strings.ReplaceAll(about.String(), "-", "")
	}
	w.put("Ntry", camtEntry{
		NtryRef:     fmt.Sprintf("%d/%d", m.Entry, m.Place),
		Amt:         w.amount(m.value),
		CdtDbtInd:   side(m.value),
		RvslInd:     ledger.Reverses(m.Line.Kind, m.Line.Ref) != nil,
		Status:      "BOOK",
		Booked:      instant(m.At),
		Value:       instant(m.At),
		AcctSvcrRef: service,
		Kind:        cut(string(m.Line.Kind), 35),
		EndToEnd:    end,
		Remittance:  remittance,
		Text:        cut(text, 500),
	})
}

// end writes what stands behind the entries.
func (w *camtWriter) end(s camtStatement) {
	if s.left > 0 {
		w.put("AddtlStmtInf",
			fmt.Sprintf("%d movements before the period have no value and are not in the balances.", s.left))
	}
	w.raw("\n</Stmt></BkToCstmrStmt></Document>\n")
}

// cut shortens a text to some characters.
func cut(text string, most int) string {
	runes := []rune(text)
	return string(runes[:min(len(runes), most)])
}
