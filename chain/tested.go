package chain

import "time"

// Tested is a range of versions of one program that an adapter was tested with: by running it, or by answers that were
// recorded from it or follow from its source and documents. How says which.
type Tested struct {
	Software string // as Software.Name
	From, To Version
	How      string
}

// CheckSoftware records what is known of the program that a mainnet node runs, which is named by text: Bad where it is
// too old for a fork that has happened, Warning where it is too old for a coming one or outside the tested versions. A
// program that the definition does not list is not evaluated. height is the node's newest block, 0 where it is not
// known.
func (d Definition) CheckSoftware(r *Report, text string, now time.Time, height uint64) {
	software, ok := d.ParseSoftware(text)
	if !ok {
		return
	}
	for _, fork := range d.Forks {
		fork.evaluate(r, software, now, height)
	}
	for _, tested := range d.Tested {
		tested.evaluate(r, software)
	}
}

// evaluate compares the version of a program with those that were tested; another program is not evaluated.
func (tested Tested) evaluate(r *Report, software Software) {
	switch {
	case tested.Software != software.Name:
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
