package main

import (
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/host"
)

// seedFile looks at what opens the seed file of this process. A TPM or a token that no longer opens it is found here,
// and not on the day when what opened it meanwhile is gone. That of a remote signer cannot be seen from here.
func (e *healthCheck) seedFile() {
	const check = "seed file"
	if e.cfg.Signer.Remote() {
		return
	}
	content, err := signer.ReadSealed(e.cfg.SeedFile)
	if err != nil {
		return // the keys were opened, or that has been said
	}
	sealed, err := signer.ParseSealed(content)
	if err != nil || !sealed.Container() {
		return // a passphrase alone
	}
	file, err := host.OpenFile(e.cfg, e.call.Getenv, nil)
	if err != nil {
		e.advise(check, resultFailed, seedAdvice["seed"], "%v", err)
		return
	}
	file.Opened.Mnemonic.Wipe()
	warned := false
	for _, f := range file.Opened.Failed {
		if f.Kind == signer.KindTPM || f.Kind == signer.KindToken {
			e.advise(check, resultWarning, "remove the way and add it again, if the machine is as you want it: see "+
				"docs/operations/seed.md", "the way %s", f)
			warned = true
		}
	}
	if !warned {
		e.note(check, resultOK, "opened by the way %s; ways: %d", file.Opened.By, len(sealed.Ways()))
	}
}
