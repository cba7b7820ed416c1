package tidy_test

import "strings"

// How a block is tried.
type trial int

const (
	ran      trial = iota // it runs as it is, but for names, places and ports
	parsed                // the software that it is for reads it
	compared              // it is compared with what the code writes or knows
	cannot                // for the reason that stands in place of a test
)

// triedBlock says of the blocks of a document how they are tried.
type triedBlock struct {
	document, language string
	with               string // is in the text; empty: any that no row above has
	blocks             int    // how many there are
	how                trial
	by                 string // the test: its folder and its name
}

func (r triedBlock) is(b block) bool {
	return r.document == b.document && r.language == b.language && strings.Contains(b.text, r.with)
}

// Tests that try blocks of several documents.
const (
	byLines    = "cmd/bursar TestDocumentedCommandLinesAreComplete"
	bySigner   = "cmd/bursar-signer TestDocumentedCommandLinesAreComplete"
	byApprove  = "cmd/bursar-approve TestDocumentedCommandLinesAreComplete"
	byConfig   = "config TestDocumentedConfigurationsAreRead"
	byShell    = "cmd/bursar TestDocumentedPagesAreFollowed"
	byTutorial = "sandbox TestTheTutorials"
	byNodes    = "sandbox TestNodesOfOthersKnowWhatTheDocumentsSet"
	byProxies  = "cmd/bursar TestTheDocumentedProxies"
	byClients  = "sandbox/clients TestOurClients"
	byFlags    = "tidy TestDocumentedToolsHaveTheirFlags"
	byBackup   = "sandbox/drill TestLitestreamLosesNoMoreThanItsInterval"
)

// triedBlocks are in the order of their documents. Of two rows that fit, the first counts.
var triedBlocks = []triedBlock{
	{"ARCHITECTURE.md", "", "", 1, cannot, "a drawing of the folders; TestImportsAreAllowed holds them to the code"},
	{"README.md", "", "", 1, cannot, "a drawing of how a deposit and a payout go"},
	{"README.md", indented, "go run ./sandbox", 1, compared, byFlags},
	{"README.md", indented, "go run ./test", 1, compared, byFlags},
	{"README.md", "sh", "", 2, ran, "cmd/bursar TestTheReadmeIsFollowed"},
	{"README.md", "yaml", "", 1, parsed, byConfig},
	{"client/README.md", "go", "", 1, ran, byClients},
	{"clients/php/README.md", "php", "", 1, ran, byClients},
	{"clients/python/README.md", "python", "", 1, ran, byClients},
	{"clients/typescript/README.md", "ts", "", 1, ran, byClients},
	{"docs/accounting.md", "", "", 1, compared, "cmd/bursar TestTheJournalIsReadByProgramsOfAccounting"},
	{"docs/adding-a-chain.md", "yaml", "", 2, parsed, byConfig},
	{"docs/charges.md", "sh", "", 4, ran, byTutorial},
	{"docs/clients.md", "", "", 1, compared, byFlags},
	{"docs/clients.md", "python", "", 1, ran, byClients},
	{"docs/clients.md", "typescript", "", 1, ran, byClients},
	{"docs/clients.md", "php", "", 1, ran, byClients},
	{"docs/close-the-month.md", "sh", "", 6, ran, "cmd/bursar TestTheMonthIsClosedAsDocumented"},
	{"docs/errors.md", "json", "", 1, compared, "sandbox/e2e TestEveryDocumentedError"},
	{"docs/errors.md", "sh", "", 28, ran, "sandbox/e2e TestEveryDocumentedError"},
	{"docs/first-payment.md", indented, "go run ./sandbox", 1, compared, byFlags},
	{"docs/first-payment.md", indented, "./bursar listen", 1, parsed, byLines},
	{"docs/first-payment.md", "sh", "", 7, ran, byTutorial},
	{"docs/first-payout.md", "sh", "", 4, ran, byTutorial},
	{"docs/first-shop.md", "sh", "", 2, ran, byClients},
	{"docs/first-shop.md", "go", "", 1, ran, byClients},
	{"docs/first-shop.md", "typescript", "", 1, ran, byClients},
	{"docs/first-shop.md", "python", "", 1, ran, byClients},
	{"docs/first-shop.md", "php", "", 1, ran, byClients},
	{"docs/metrics.md", "yaml", "", 1, compared, byConfig},
	{"docs/metrics.md", "sh", "", 1, ran, "tidy TestTheDocumentedHostOfRunbooks"},
	{"docs/operations.md", "yaml", "", 9, parsed, byConfig},
	{"docs/operations.md", "", "", 3, ran, byShell},
	{"docs/operations.md", indented, "bursar webhook redeliver", 1, ran, byShell},
	{"docs/operations.md", indented, "bursar seed pool", 1, ran, byShell},
	{"docs/operations.md", indented, "jq -c", 2, cannot,
		"it reads a log with an ID of the reader's; TestTheLogFollowsADeposit reads such a log"},
	{"docs/operations.md", indented, "", 2, parsed, byLines},
	{"docs/operations/approvals.md", "", "", 1, parsed, "roster TestTheDocumentedPolicyIsRead"},
	{"docs/operations/approvals.md", indented, "go build", 1, compared, byFlags},
	{"docs/operations/approvals.md", indented, "ssh-keygen", 1, cannot,
		"a security key has to be touched; sshsig signs with a key of that form"},
	{"docs/operations/approvals.md", indented, "fido2-cred", 1, cannot,
		"an authenticator has to be touched; TestACertificateIsShown reads what fido2-cred wrote"},
	{"docs/operations/approvals.md", indented, "bursar audit export", 1, parsed, byLines},
	{"docs/operations/approvals.md", indented, "", 2, parsed, byApprove},
	{"docs/operations/backup.md", "", "database: postgres", 1, parsed, byConfig},
	{"docs/operations/backup.md", "", "bootstrap:", 1, compared,
		"sandbox/patroni TestTheDocumentedSettingsAreTheTested"},
	{"docs/operations/backup.md", "", "backup --verify", 1, parsed, byLines},
	{"docs/operations/backup.md", "", "20260131.dump", 1, parsed, byLines},
	{"docs/operations/backup.md", "", "litestream", 1, ran, byBackup},
	{"docs/operations/backup.md", "", "dbs:", 1, ran, byBackup},
	{"docs/operations/backup.md", "", "pgbackrest", 4, ran, "sandbox/drill TestPgBackRestRestoresToAnyMoment"},
	{"docs/operations/backup.md", "", "/mnt/kit/", 3, ran, "sandbox/e2e TestEverythingIsLostButTheKit"},
	{"docs/operations/backup.md", "", "", 2, ran, "sandbox/e2e TestTheRestoreDrill"},
	{"docs/operations/bitcoin.md", "ini", "", 1, compared,
		"chain/bitcoin/bitcoindtest TestNodesKnowWhatTheDocumentsConfigure"},
	{"docs/operations/bitcoin.md", "yaml", "", 1, parsed, byConfig},
	{"docs/operations/bsc.md", "sh", "", 1, compared, "sandbox TestGethKnowsWhatTheDocumentsStart"},
	{"docs/operations/bsc.md", "yaml", "", 1, parsed, byConfig},
	{"docs/operations/cold.md", "yaml", "", 1, parsed, byConfig},
	{"docs/operations/cold.md", "", "", 1, parsed, "roster TestTheDocumentedRuleOfMovesToColdIsRead"},
	{"docs/operations/compromise.md", "", "", 1, parsed, "approval TestTheDocumentedCompromiseOrderIsRead"},
	{"docs/operations/console.md", "sh", "", 3, ran, byShell},
	{"docs/operations/database.md", "sql", "", 1, ran, "cmd/bursar TestTheDocumentedRolesOfADatabase"},
	{"docs/operations/database.md", "sh", "", 1, ran, "cmd/bursar TestTheDocumentedRolesOfADatabase"},
	{"docs/operations/ethereum.md", "sh", "", 1, compared, "sandbox TestGethKnowsWhatTheDocumentsStart"},
	{"docs/operations/ethereum.md", "yaml", "", 1, parsed, byConfig},
	{"docs/operations/first-hour.md", "sh", "apt-get install", 1, cannot,
		"it changes the machine: dpkg installs the same file in a root of its own (release, packages_install_test.go)"},
	{"docs/operations/first-hour.md", "sh", "systemctl", 1, parsed, "release TestTheDocumentedPartsOfUnits"},
	{"docs/operations/first-hour.md", "sh", "", 6, ran, "cmd/bursar TestTheFirstHour"},
	{"docs/operations/litecoin.md", "ini", "", 1, compared,
		"chain/bitcoin/bitcoindtest TestNodesKnowWhatTheDocumentsConfigure"},
	{"docs/operations/litecoin.md", "yaml", "", 1, parsed, byConfig},
	{"docs/operations/notices.md", "yaml", "", 1, parsed, byConfig},
	{"docs/operations/notices.md", indented, "", 1, parsed, byLines},
	{"docs/operations/orders.md", indented, "", 2, ran, byShell},
	{"docs/operations/orders.md", "", "", 1, parsed, "approval TestTheDocumentedOrderIsRead"},
	{"docs/operations/packages.md", "sh", "apt-get install", 1, cannot,
		"it changes the machine: dpkg installs the same file in a root of its own (release, packages_install_test.go)"},
	{"docs/operations/packages.md", "sh", "skopeo", 1, cannot,
		"it needs Docker's daemon; release TestPackagesAreTheSameTwice copies the same archive into a folder"},
	{"docs/operations/packages.md", "yaml", "", 1, parsed, byConfig},
	{"docs/operations/polygon.md", "toml", "", 1, compared, byNodes},
	{"docs/operations/polygon.md", "yaml", "", 1, parsed, byConfig},
	{"docs/operations/proposals.md", "yaml", "", 1, parsed, byConfig},
	{"docs/operations/proposals.md", "sh", "", 1, ran, byShell},
	{"docs/operations/proxies.md", "nginx", "", 1, ran, byProxies},
	{"docs/operations/proxies.md", "caddy", "", 1, ran, byProxies},
	{"docs/operations/proxies.md", "haproxy", "", 1, ran, byProxies},
	{"docs/operations/proxies.md", "yaml", "", 1, parsed, byConfig},
	{"docs/operations/refill.md", "yaml", "", 4, parsed, byConfig},
	{"docs/operations/refill.md", indented, "bursar-signer", 2, parsed, bySigner},
	{"docs/operations/refill.md", indented, "", 4, parsed, byLines},
	{"docs/operations/releases.md", "sh", "minisign", 1, ran, "release TestTheDigestsAreSigned"},
	{"docs/operations/releases.md", "sh", "ssh-keygen", 1, ran, "release TestTheDigestsAreSignedByAKeyOfSSH"},
	{"docs/operations/releases.md", "sh", "record.sh", 1, cannot,
		"it plays the sandbox for four minutes; the upgrade tests use what it recorded"},
	{"docs/operations/screening.md", "yaml", "", 1, parsed, byConfig},
	{"docs/operations/screening.md", indented, "", 2, parsed, byLines},
	{"docs/operations/screening.md", "json", "", 2, compared, "verdict TestTheTextsAreAsDocumented"},
	{"docs/operations/screening.md", "", "", 2, compared, "verdict TestTheTextsAreAsDocumented"},
	{"docs/operations/seed.md", indented, "bursar seed recipients list", 1, ran, byShell},
	{"docs/operations/seed.md", indented, "systemd-creds", 1, cannot,
		"it needs a TPM, or the key of a host, of the machine that runs it"},
	{"docs/operations/seed.md", indented, "", 3, parsed, byLines},
	{"docs/operations/seed.md", "ini", "", 1, parsed, "release TestTheDocumentedPartsOfUnits"},
	{"docs/operations/seed.md", "sh", "pkcs11-tool", 1, ran, "signer/token TestSoftHSMOpensWhatWasSealed"},
	{"docs/operations/seed.md", "yaml", "", 1, ran, "signer/token TestSoftHSMOpensWhatWasSealed"},
	{"docs/operations/seed.md", "sh", "", 2, ran, byShell},
	{"docs/operations/signer.md", indented, "go build", 1, compared, byFlags},
	{"docs/operations/signer.md", indented, "", 2, parsed, byLines},
	{"docs/operations/solana.md", "sh", "", 1, compared, byNodes},
	{"docs/operations/solana.md", "yaml", "", 1, parsed, byConfig},
	{"docs/operations/treasury.md", indented, "", 1, parsed, byLines},
	{"docs/operations/tron.md", "hocon", "", 1, compared, byNodes},
	{"docs/operations/tron.md", "yaml", "", 2, parsed, byConfig},
	{"docs/operations/watch-only.md", indented, "", 1, ran, byShell},
	{"docs/operations/watch-only.md", "yaml", "", 2, parsed, byConfig},
	{"docs/operations/xrpl.md", "ini", "", 1, compared, byNodes},
	{"docs/operations/xrpl.md", "yaml", "", 3, parsed, byConfig},
	{"docs/payer-page.md", "yaml", "", 4, parsed, byConfig},
	{"docs/payer-page.md", "sh", "", 1, ran, byTutorial},
	{"docs/performance.md", indented, "", 1, compared, byFlags},
	{"docs/providers.md", indented, "", 1, parsed, byLines},
	{"docs/providers.md", "yaml", "", 1, parsed, byConfig},
	{"docs/sandbox.md", "sh", "", 1, ran, byTutorial},
	{"docs/sandbox.md", indented, "", 3, parsed, byLines},
	{"docs/scaling.md", indented, "", 3, parsed, byLines},
	{"docs/simulation.md", indented, "", 2, compared, byFlags},
	{"docs/states.md", "mermaid", "", 4, compared, "tidy TestTheStatesAreDrawnAsTheTablesAre"},
	{"docs/woocommerce.md", "sh", "", 1, ran, "tidy TestTheDocumentedPluginIsWhole"},
	{"docs/wrong-network.md", "sh", "chain rescan", 1, parsed, byLines},
	{"docs/wrong-network.md", "sh", "", 2, ran, byShell},
	{"examples/README.md", indented, "receiver-go", 1, ran, byClients},
	{"examples/README.md", indented, "npm install", 1, ran, byClients},
	{"examples/README.md", indented, "node order-js", 1, ran, "orderkey TestNodeSignsOrders"},
	{"examples/README.md", indented, "curl", 1, cannot,
		"docs/first-payment.md has the same request, and TestTheTutorials runs that"},
	{"examples/README.md", "yaml", "", 1, parsed, byConfig},
}
