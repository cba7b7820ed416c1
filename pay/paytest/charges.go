package paytest

import (
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/charge"
)

// addresses are valid ones of the main networks, by currency; those of one chain share theirs.
var addresses = map[bursar.CurrencyCode]bursar.Address{
	"BTC":        {Base: "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"},
	"LTC":        {Base: "ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9"},
	"ETH":        {Base: "0x52908400098527886E0F7030069857D2E4169EE7"},
	"BNB":        {Base: "0x52908400098527886E0F7030069857D2E4169EE7"},
	"MATIC":      {Base: "0x52908400098527886E0F7030069857D2E4169EE7"},
	"USDT-MATIC": {Base: "0x52908400098527886E0F7030069857D2E4169EE7"},
	"USDC-MATIC": {Base: "0x52908400098527886E0F7030069857D2E4169EE7"},
	"USDT":       {Base: "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8"},
	"TRX":        {Base: "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8"},
	"SOL":        {Base: "7S3P4HxJpyyigGzodYwHtCxZyUQe9JiBMHyRWXArAaKv"},
	"XRP":        {Base: "rU6K7V3Po4snVhBBaU29sesqs2qTQJWDw1", HasMemo: true, Memo: 4294967295},
}

const life = 15 * time.Minute

// fill makes a charge for each state.
func (b *Book) fill() {
	many := []bursar.CurrencyCode{"BTC", "USDT", "USDC-MATIC", "ETH", "SOL", "XRP"}
	b.add("choose", "EUR", "48.50", many...)
	b.add("no_rate", "EUR", "48.50", "BNB")
	for _, code := range []bursar.CurrencyCode{"BTC", "LTC", "ETH", "BNB", "MATIC", "SOL", "TRX", "XRP", "USDT",
		"USDT-MATIC",
		"USDC-MATIC"} {
		b.add("waiting-"+strings.ToLower(string(code)), code, "1.25", code)
	}
	b.quoted("waiting", many, "BTC")
	b.quoted("partial", many, "USDT", payment{amount: "20", status: bursar.DepositConfirmed})
	b.quoted("rate_ended", many, "BTC")
	d := b.of("rate_ended")
	d.Option("BTC").Quotes[0].Until = b.Now()
	b.quoted("confirming", many, "BTC", payment{amount: "0.00059704", status: bursar.DepositPending})
	b.quoted("paid", many, "USDT", payment{amount: "56.4", status: bursar.DepositConfirmed})
	b.quoted("over", many, "USDT", payment{amount: "70", status: bursar.DepositConfirmed})
	b.quoted("reversed", many, "USDT", payment{amount: "56.4", status: bursar.DepositReversed})
	b.quoted("other_asset", many, "USDT", payment{amount: "40", status: bursar.DepositConfirmed, as: "TRX",
		origin: bursar.PaidOtherAsset})
	b.quoted("other_network", many, "ETH", payment{amount: "40", status: bursar.DepositConfirmed, as: "USDC-MATIC",
		origin: bursar.PaidOnOtherNet})
	b.quoted("expired", many, "BTC")
	b.quoted("expired_partial", many, "USDT", payment{amount: "20", status: bursar.DepositConfirmed})
	b.quoted("late", many, "USDT", payment{amount: "56.4", status: bursar.DepositConfirmed, late: true})
	for _, name := range []string{"expired", "expired_partial", "late"} {
		b.end(name)
	}
	b.quoted("cancelled", many, "BTC")
	b.of("cancelled").CancelledAt = b.Now()
}

func (b *Book) of(name string) *charge.Shown { return b.charges[b.names[name]] }

// end moves a charge into the past, so that it has ended by now.
func (b *Book) end(name string) {
	d := b.of(name)
	d.CreatedAt, d.Expires = d.CreatedAt.Add(-time.Hour), d.Expires.Add(-time.Hour)
	for i := range d.Payments {
		if p := &d.Payments[i]; !p.Deposit.SeenAt.Equal(lateAt(b.Now())) {
			p.Deposit.SeenAt = p.Deposit.SeenAt.Add(-time.Hour)
		}
	}
}

func lateAt(now time.Time) time.Time { return now.Add(-time.Minute) }

// add makes a charge. One with one currency has its address at once.
func (b *Book) add(name string, unit bursar.CurrencyCode, amount string, codes ...bursar.CurrencyCode) {
	now := b.Now()
	n := len(b.charges) + 1
	d := &charge.Shown{}
	d.Number, d.ID, d.Token = int64(n), bursar.ID{1, 15: byte(n)}, bursar.ID{2, 15: byte(n)}
	d.Description, d.Contact = "Order 4711 – two pots of basil", "help@fern-and-fig.example"
	d.Success, d.Failure = "https://fern-and-fig.example/thanks", "https://fern-and-fig.example/basket"
	d.CreatedAt, d.Expires, d.RateLock, d.Late, d.Other = now, now.Add(life), life, bursar.HandlingReview,
		bursar.HandlingReview
	if c, err := b.Registry.Get(unit); err == nil {
		d.Unit = bursar.UnitOf(c)
	} else {
		d.Unit, _ = bursar.FiatUnit(unit)
	}
	d.Required, _ = d.Unit.Parse(amount)
	d.Recorded.Version = 1
	for _, code := range codes {
		d.Options = append(d.Options, bursar.InvoiceOption{Currency: code})
	}
	if len(codes) == 1 && !d.Unit.Fiat {
		b.choose(d, &d.Options[0])
	}
	b.charges[d.Token], b.names[name] = d, d.Token
}

// choose gives a currency its address and its rate.
func (b *Book) choose(d *charge.Shown, o *bursar.InvoiceOption) {
	now := b.Now()
	c, err := b.Registry.Get(o.Currency)
	if err != nil {
		return
	}
	o.Wallet, o.Address = d.Number, addresses[c.Code]
	q := bursar.Quote{Rate: bursar.Par(), RateAt: now, At: now}
	if d.Unit.Fiat {
		q = b.price(o.Currency, d.Unit)
		q.At, q.Until = now, now.Add(life)
	}
	o.Quotes = append(o.Quotes, q)
}

// payment is what came to a charge.
type payment struct {
	amount string
	status bursar.DepositStatus
	as     bursar.CurrencyCode // empty: the chosen one
	origin bursar.PaymentOrigin
	late   bool
}

// quoted makes a charge of a price whose payer has chosen a currency.
func (b *Book) quoted(name string, codes []bursar.CurrencyCode, code bursar.CurrencyCode, paid ...payment) {
	b.add(name, "EUR", "48.50", codes...)
	d := b.of(name)
	b.choose(d, d.Option(code))
	for i, p := range paid {
		b.pay(d, i, code, p)
	}
}

func (b *Book) pay(d *charge.Shown, i int, code bursar.CurrencyCode, p payment) {
	if p.as == "" {
		p.as, p.origin = code, bursar.PaidAsAsked
	}
	c, err := b.Registry.Get(p.as)
	if err != nil {
		return
	}
	amount, _ := bursar.ParseDecimal(p.amount, c.Decimals)
	made := bursar.Payment{Origin: p.origin, Places: c.Places, Decimals: c.Decimals, Rate: b.price(p.as, d.Unit).Rate}
	made.Deposit = bursar.Deposit{ID: bursar.ID{3, 14: byte(d.Number), 15: byte(i)}, Currency: p.as, Chain: c.Chain,
		TxID: strings.Repeat("5d7a91c4", 8), Amount: amount, Status: p.status, Height: height - 1, SeenAt: b.Now()}
	if p.late {
		made.Deposit.SeenAt = lateAt(b.Now())
	}
	d.Payments = append(d.Payments, made)
}
