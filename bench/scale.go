package main

import (
	"context"
	"fmt"
	"time"
)

// What the small database has.
const (
	smallWallets = 10_000
	smallEntries = 100_000
)

// Targets of the large database, as ratios to the small one unless they have a unit.
const (
	largeStart  = 5 * time.Second
	largeMemory = "< 300 MB"
	largeRatio  = "within 1.2"
)

// fillEntry is about how long it takes to write an entry by SQL.
const fillEntry = 40 * time.Microsecond

// sized is a database of one size.
type sized struct {
	*site
	size             string // small or large
	wallets, entries int64
	small            *part // what the small one gave, once it is measured
}

// scaleSuites measure the same with a small database and with a large one.
func (b *bench) scaleSuites() (suites []suite) {
	if !b.scale {
		return nil
	}
	small := &part{}
	for _, one := range []*sized{
		{&site{bench: b, kind: b.databases[0]}, "small", smallWallets, smallEntries, small},
		{&site{bench: b, kind: b.databases[0]}, "large", b.wallets, b.entries, small},
	} {
		suites = append(suites, suite{
			name:  one.size + " database",
			takes: 10*time.Second + time.Duration(one.wallets)*fillWallet + time.Duration(one.entries)*fillEntry,
			open:  one.open,
			steps: []step{
				{"scale: start and memory", 15 * time.Second, one.start},
				{"scale: requests", time.Duration(len(one.subjects())) * b.takes(1), one.requests},
				{"scale: lists", time.Duration(len(one.lists())) * b.takes(1), one.lookUps},
				{"scale: a block of deposits", 20 * time.Second, one.block},
			},
		})
	}
	return suites
}

// open fills a new database, before the first start.
func (s *sized) open(ctx context.Context) (func(), error) {
	err := s.prepare(ctx, "scale-"+s.size, "bitcoin")
	if err == nil {
		err = s.filler().wallets(ctx, s.account.AccountID, s.wallets)
	}
	if err == nil {
		accounts := (s.wallets + walletsEach - 1) / walletsEach
		err = s.filler().entries(ctx, s.account.AccountID, accounts, s.entries)
	}
	if err == nil {
		err = s.filler().lists(ctx, s.account.AccountID, s.wallets, s.entries/listed)
	}
	if err == nil {
		err = s.filler().analyze(ctx)
	}
	if err == nil {
		err = s.serve(ctx) // takes over what was filled in
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s.close, nil
}

// label names what was measured with the size of the database.
func (s *sized) label(name string) string {
	return fmt.Sprintf("%s (%s wallets, %s entries)", name, number(float64(s.wallets)), number(float64(s.entries)))
}

// keep keeps a figure. That of the large database is compared with that of the small one.
func (s *sized) keep(name string, f figure) {
	if s.size == "small" {
		s.small.Figures = append(s.small.Figures, figure{Name: name, Value: f.Value})
	} else {
		for _, old := range s.small.Figures {
			if old.Name == name {
				f = f.beside("small database", old.Value)
			}
		}
	}
	f.Database, f.Name = s.kind, s.label(name)
	s.part(partScale).figure(f)
}

// keepLarge is keep with a target of the large database.
func (s *sized) keepLarge(name string, f figure, target string) {
	if s.size == "large" {
		f.Target = target
	}
	s.keep(name, f)
}

// start starts the service again while a new block waits for it.
func (s *sized) start(ctx context.Context) error {
	if err := s.followedToTip(ctx); err != nil {
		return err
	}
	s.halt()
	if err := s.mine(ctx, 1); err != nil {
		return err
	}
	began := time.Now()
	if err := s.serve(ctx); err != nil {
		return err
	}
	if err := s.followedToTip(ctx); err != nil {
		return err
	}
	followed := time.Since(began)
	memory, err := s.service.memory()
	if err != nil {
		return err
	}
	target := "< " + largeStart.String()
	s.keepLarge("start until ready", figure{Unit: "s", Value: s.ready.Seconds()}, target)
	s.keepLarge("start until a waiting block is recorded", figure{Unit: "s", Value: followed.Seconds()}, target)
	s.keepLarge("memory then", figure{Unit: "MB", Value: float64(memory) / megabyte}, largeMemory)
	return nil
}

// subjects are the requests that are measured.
func (s *sized) subjects() []subject {
	get := func(path string) func(s *site, _ fixture) call {
		return func(s *site, _ fixture) call { return fixed("GET", "/api/v1"+path, headersOf(s.account), "") }
	}
	return []subject{
		{name: "GET account", service: get("/account")},
		{name: "a page of 100 wallets", service: get("/account/wallets?limit=100")},
		{name: "a page of 100 ledger lines", service: get("/account/ledger?limit=100")},
		{name: "POST wallet", service: func(s *site, _ fixture) call {
			return fixed("POST", "/api/v1/wallet", headersOf(s.account), newWallet)
		}},
	}
}

func (s *sized) requests(ctx context.Context) error { return s.measured(ctx, 64, s.subjects()) }

// measured measures requests over a number of connections.
func (s *sized) measured(ctx context.Context, conns int, subjects []subject) error {
	for _, one := range subjects {
		before, err := s.pagesRead(ctx)
		if err != nil {
			return err
		}
		var made int64
		var best load
		for range s.rounds {
			got, err := drive(ctx, driving{
				addresses: []string{s.api},
				conns:     conns,
				end:       after(s.seconds),
				next:      one.service(s.site, fixture{}),
				turn:      &s.turn,
			})
			if err != nil {
				return fmt.Errorf("%s: %w", one.name, err)
			}
			made += got.Requests
			if got.PerSecond > best.PerSecond {
				best = got
			}
		}
		if err := s.keepPages(ctx, one.name, before, made); err != nil {
			return err
		}
		s.keepLarge(fmt.Sprintf("%s, %d connections", one.name, conns), figure{Unit: "requests/s", Value: best.PerSecond},
			largeRatio)
	}
	return nil
}

// block has a block of deposits recorded and credited.
func (s *sized) block(ctx context.Context) error {
	c, err := s.crowd(ctx)
	if err != nil {
		return err
	}
	var seen, credited time.Duration
	for round := range s.rounds {
		nowSeen, nowCredited, err := c.block(ctx)
		if err != nil {
			return err
		}
		if round == 0 || nowSeen+nowCredited < seen+credited {
			seen, credited = nowSeen, nowCredited
		}
	}
	name := fmt.Sprintf("a block of %s deposits", number(float64(len(c.payments))))
	s.keepLarge(name+" seen", figure{Unit: "s", Value: seen.Seconds()}, largeRatio)
	s.keepLarge(name+" credited", figure{Unit: "s", Value: credited.Seconds()}, largeRatio)
	return s.faultless(ctx)
}
