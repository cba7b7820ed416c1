package main

import (
	"fmt"
	"strings"
)

// section is the text of one part in the document: what is measured and how, never a result.
type section struct{ name, title, how string }

// The parts of a report, in the order of the document.
var sections = []section{
	{partRequests, "Requests", `
Each connection has one request at a time. The reference is a small program on the same database server: plain
net/http, the same authentication from memory, one statement for a read, and the writes of concurrent requests
batched into one transaction. Reference and service are measured alternately. p50 and p99 are the service's. Processor
time is user and system time of the program and of its database server for each request, including the service's
background work: paying recorded withdrawals, auditing the books, delivering events. While all cores are busy it
determines the rate; the driver's own time comes on top. The causes of the ratios of wallets and transfers are explained
in [decision 66](decisions/0066-what-is-alike-changes-together.md#consequences) and
[decision 119](decisions/0119-what-a-row-costs-the-server.md). Rows by a bare program, where they were measured, are
those of a program that writes the same rows as the service and does nothing else.`},
	{partDeposits, "A block of deposits", `
A block pays many wallets. *Seen* is the time from the request that mines the block until the last deposit is listed
as pending; *credited* is the time from the request that mines the block which makes it final until the balance contains
every deposit. The events are recorded in the same transactions.`},
	{partSettling, "Settling", `
The work that follows a final block. Payouts are ordered from one account over 16 connections; blocks are then mined, up
to five a second, until all are booked as paid. For Ether, a block pays many wallets, and one transaction for each
wallet then sweeps its money to the hot wallet. Processor time is user and system time of the service and of its
database server for each payout, deposit or sweep. Bitcoin's payouts share transactions; each sweep is a transaction
with a signature of its own, and they are made one after the other. Before each signature the marks outside the database
and the memory of the signer are synced to the disk, and the database commits before and after it.`},
	{partWebhooks, "Webhooks", `
All events become due at the same time while the service runs. The rate is measured from the first to the last request
that the healthy receiver gets. The bare POST loop is the reference program: as many requests at once as the service
makes to one receiver, the same body, nothing signed and nothing recorded. Processor time is user and system time of a
process, with its children, for each request. Receiver, service, database and loop share the machine: once all cores are
busy, the sum of the processor times of one delivery limits the rate.`},
	{partBlocks, "Following Bitcoin", `
A scripted node has blocks ready and answers at once, over loopback and without compression. The service follows them
from the moment when the node announces them all; every tenth block pays a wallet. Blocks per core are blocks per second
of the service's processor time; memory is that of the service when the last block is recorded.`},
	{partAdapters, "Following each chain", `
How fast each adapter alone follows blocks of the size that its mainnet has today, without a database. The node is
reached over loopback HTTP; a large response, which is a block, takes 0 or 400 ms and a small one 0 or 60 ms, and up to
64 blocks are requested ahead. The ratio is the headroom: how many times faster that is than the chain makes blocks.
` + "`go test -run '^$' -bench Throughput ./chain/...`" + ` prints more cases.`},
	{partLatency, "Latency", `
*Announcement to webhook* begins with the request that mines the final block of a deposit and ends when the receiver
gets the event. *Order to broadcast* begins with the request for a withdrawal and ends when the node has the
transaction in its mempool. The requests beside a block are paced, 400 per second over 8 connections.`},
	{partPayers, "Payers' pages", `
A hundred payers have the page of a charge open, each with a stream of its changes, while requests are made at a pace of
500 per second over 10 connections. The charges are cancelled one after the other. *Change of a charge to its payer's
page* begins with the response to the cancellation and ends with the event on the page's stream: the service checks for
changes once a second, so the average is half a second even without load.`},
	{partScale, "Large databases", `
Both databases are filled by SQL before the first start. Each figure of the large one is compared with that of the
small one in the same run.`},
	{partReplicas, "Replicas", `
Several processes of the service on one PostgreSQL, on the same machine as the server and the driver. The connections
are spread over them. The reference is one process in the same run. Processor time is that of all replicas and of the
database server for each request: its growth is the cost of smaller batches.`},
	{partPeers, "Other ledgers", `
Ledgers that were running when the benchmark was started, on databases of their own, are driven in turns with the
service. The reference is the other ledger: one posting from one hot account to one of 200, answered once it is applied.
The service records a withdrawal and a deposit, with their fees, events and checks.`},
	{partFootprint, "Footprint", `
The service with all chains of the sandbox configured, after it is ready, on SQLite.`},
}

func titleOf(name string) string {
	for _, s := range sections {
		if s.name == name {
			return s.title
		}
	}
	return name
}

const documentHead = `# Performance

This document is written by ` + "`go run ./bench --json bench/results/performance.json --write docs/performance.md`" + `
and contains only what that command measured: the real binary as a process, over HTTP, on PostgreSQL with fsync and
synchronous_commit on and on SQLite with full sync. Service, database, load driver and receivers share one machine.
PostgreSQL makes a checkpoint every half hour, so that none falls into one measurement and not into another (every five
minutes, as in a fresh installation, in parts that were measured before commit e0b7f69a).
Absolute figures depend on the machine; each ratio compares two figures of one run. Targets are goals and not promises.

    go run ./bench            # --quick: two minutes; --only REGEXP: a part; --help: the rest
`

// document renders a report as docs/performance.md.
func (r report) document() []byte {
	var b strings.Builder
	b.WriteString(documentHead)
	for _, s := range sections {
		for _, p := range r.Parts {
			if p.Name == s.name {
				p.write(&b, s)
			}
		}
	}
	return []byte(b.String())
}

func (p *part) write(b *strings.Builder, s section) {
	fmt.Fprintf(b, "\n## %s\n\n%s\n\nMeasured %s.\n", s.title, strings.TrimSpace(s.how), p.Run)
	for _, g := range p.grids() {
		b.WriteString("\n")
		writeLine(b, g.head)
		marks := make([]string, len(g.head))
		for i := range marks {
			marks[i] = "---"
		}
		writeLine(b, marks)
		for _, line := range g.lines {
			writeLine(b, line)
		}
	}
}

func writeLine(b *strings.Builder, cells []string) {
	b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}
