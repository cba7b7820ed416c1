package shop

import (
	"crypto/rand"
	"slices"
	"sync"
	"time"

	"github.com/bursar/bursar/client"
)

// maxOrders is how many orders are kept, the newest.
const maxOrders = 500

// Product is something that the shop sells, for euros.
type Product struct {
	ID, Name, Price string
}

// products are what the shop sells.
var products = []Product{
	{"mug", "Mug with a fish", "12.50"},
	{"map", "Map of an island", "49.00"},
	{"bike", "Bicycle, red", "780.00"},
}

func productOf(id string) (Product, bool) {
	i := slices.IndexFunc(products, func(p Product) bool { return p.ID == id })
	if i < 0 {
		return Product{}, false
	}
	return products[i], true
}

// Order is something that a customer buys.
type Order struct {
	Number  string
	Product Product
	Charge  client.Charge
	Webhook string // the last event about it; empty: none came yet
}

// Ready reports whether the shop may deliver.
func (o Order) Ready() bool { return o.Charge.Status == client.SumPaid }

// Ended reports whether nothing more is asked of the payer.
func (o Order) Ended() bool {
	return o.Ready() || o.Charge.Status == client.SumExpired || o.Charge.Status == client.SumCancelled
}

// orders keeps the newest orders.
type orders struct {
	mu   sync.Mutex
	list []Order // oldest first
}

// newNumber draws an order's number.
func newNumber() string { return "shop-" + rand.Text()[:10] }

func (o *orders) add(order Order) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.list = append(o.list, order); len(o.list) > maxOrders {
		o.list = o.list[1:]
	}
}

// newest returns the last orders, the newest first.
func (o *orders) newest(count int) []Order {
	o.mu.Lock()
	defer o.mu.Unlock()
	list := slices.Clone(o.list[max(0, len(o.list)-count):])
	slices.Reverse(list)
	return list
}

func (o *orders) get(number string) (Order, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if i := o.at(number); i >= 0 {
		return o.list[i], true
	}
	return Order{}, false
}

// learn takes a state of an order's charge, unless a newer one is known; event names the webhook that brought it.
func (o *orders) learn(charge client.Charge, event string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	i := o.at(charge.Reference)
	if i < 0 || o.list[i].Charge.Version > charge.Version {
		return
	}
	page := o.list[i].Charge.CheckoutURL
	if o.list[i].Charge = charge; charge.CheckoutURL == "" {
		o.list[i].Charge.CheckoutURL = page // events do not carry it
	}
	if event != "" {
		o.list[i].Webhook = event
	}
}

func (o *orders) at(number string) int {
	return slices.IndexFunc(o.list, func(have Order) bool { return have.Number == number })
}

// lives are how long a customer may take to pay.
var lives = []time.Duration{time.Hour, time.Minute}
