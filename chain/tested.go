package chain

import (
	"fmt"
	"time"

	"github.com/bursar/bursar"
)

// Tested is a range of versions of one program that an adapter was tested with: by running it, or by answers that were
// recorded from it or follow from its source and documents. How says which.
type Tested struct {
	Chain    bursar.ChainID
	Software string // as Software.Name
	From, To Version
	How      string
}

// TestedVersions returns the programs and versions that are known to work.
func TestedVersions() []Tested {
	return []Tested{
		{bursar.Bitcoin, "satoshi", V(25), V(32, 1), "Knots 29.5 is run; later ones by recorded answers and release notes"},
		{bursar.Litecoin, "litecoincore", V(0, 21, 5, 8), V(0, 21, 5, 8), "0.21.2.1 is run; 0.21.5.8 by its release notes"},
		{bursar.Ethereum, "geth", V(1, 16, 7), V(1, 17, 7), "1.17 is run"},
		{bursar.BSC, "geth", V(1, 7, 7), V(1, 8, 2), "not run; by its release notes"},
		{bursar.Polygon, "bor", V(2, 10), V(2, 10), "not run; by its source and the answers of its own tests"},
		{bursar.Tron, "java-tron", V(4, 7), V(4, 8, 2, 2), "not run; by its source and recorded answers"},
		{bursar.Solana, "solana-core", V(4, 2, 2), V(4, 4),
			"not run; LiteSVM is; by its documents and recorded transactions"},
		{bursar.XRPL, "xrpld", V(3, 4, 1), V(3, 4, 1), "not run; by its documents and recorded answers"},
		{bursar.XRPL, "clio", V(2, 0), V(2, 99), "not run; by its source"},
	}
}

// JudgeSoftware records what the tables of forks and of tested versions say about a mainnet node: Bad where it is too
// old for a fork that has happened, Doubtful where it is too old for a coming one or outside the tested versions. A
// program that is in no table is not judged. height is the node's newest block, 0 where it is not known.
func JudgeSoftware(r *Report, id bursar.ChainID, text string, now time.Time, height uint64) {
	software, ok := ParseSoftware(text)
	if !ok {
		return
	}
	for _, fork := range Forks() {
		needs, known := fork.Needs[software.Name]
		if fork.Chain != id || !known || software.Version.Compare(needs) >= 0 {
			continue
		}
		advice := fmt.Sprintf("run version %s or later", needs)
		if fork.active(now, height) {
			r.Bad(CheckFork, advice, "%s %s is too old for %s: it may follow an abandoned branch or miss what is in blocks",
				software.Name, software.Version, fork.Name)
			continue
		}
		r.Warn(CheckFork, advice+" before then", "%s %s is too old for %s, which comes %s",
			software.Name, software.Version, fork.Name, fork.when())
	}
	judgeTested(r, id, software)
}

// when returns the fork's time or height as text.
func (f Fork) when() string {
	if f.Height > 0 {
		return fmt.Sprintf("at block %d, by %s", f.Height, f.Time.Format(time.DateOnly))
	}
	return "on " + f.Time.Format("2006-01-02 15:04 UTC")
}

func judgeTested(r *Report, id bursar.ChainID, software Software) {
	for _, tested := range TestedVersions() {
		switch {
		case tested.Chain != id || tested.Software != software.Name:
		case software.Version.Compare(tested.From) < 0:
			r.Warn(CheckTested, "run a tested version; docs/operations.md lists them",
				"%s %s is older than what was tested, the oldest is %s", software.Name, software.Version, tested.From)
		case software.Version.Compare(tested.To) > 0:
			r.Warn(CheckTested,
				"run `bursar chain probe` against it before you rely on it, and look for a newer release of Bursar",
				"%s %s is newer than what was tested, the newest is %s", software.Name, software.Version, tested.To)
		default:
			r.Good(CheckTested, "%s %s: %s", software.Name, software.Version, tested.How)
		}
	}
}
