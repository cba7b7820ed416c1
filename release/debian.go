package main

import (
	"compress/gzip"
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
)

// maintainer stands in packages until the project has an address of its own.
const maintainer = "Bursar <bursar@localhost>"

// debianCopyright is what Debian's packages say of the licence, whose text every Debian has (Debian Policy 12.5).
const debianCopyright = `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Bursar

Files: *
Copyright: 2026 the authors of Bursar
License: Apache-2.0
 On Debian systems the full text of the Apache License, version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.
`

// overrides are what lintian says and is meant, with the reason. NAME is the package's.
const overrides = `# The project has no mail address of its own yet.
NAME: bogus-mail-host Maintainer bursar@localhost
NAME: bogus-mail-host-in-debian-changelog *
# A static program runs on every Linux, and is the same bytes everywhere.
NAME: statically-linked-binary [usr/bin/NAME]
`

// serviceOverrides are those of packages with a unit.
const serviceOverrides = `# Only where systemd runs, to read units again and restart what runs; none is enabled.
NAME: maintainer-script-calls-systemctl *
# systemd is what starts it, whose settings take from the process what it does not need.
NAME: package-supports-alternative-init-but-no-init.d-script *
# /etc/NAME belongs to root, who alone can put files there.
NAME: recursive-privilege-change *
`

// debian returns the files of a package with what only Debian's packages have: its form of the licence and of the
// changelog, and the overrides of its checker.
func (p packaged) debian(list []file, version string, at time.Time) ([]file, error) {
	for i := range list {
		if list[i].path == p.copyright() {
			list[i].content = []byte(debianCopyright)
		}
	}
	changes := fmt.Sprintf("%s (%s) unstable; urgency=medium\n\n"+
		"  * What has changed is in CHANGELOG.md.gz beside this file.\n\n -- %s  %s\n",
		p.name, version, maintainer, at.UTC().Format(time.RFC1123Z))
	packed, err := zipped([]byte(changes), gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	meant := overrides
	if p.service {
		meant += serviceOverrides
	}
	return append(list,
		file{path: "/usr/share/doc/" + p.name + "/changelog.gz", mode: 0o644, content: packed},
		file{path: "/usr/share/lintian/overrides/" + p.name, mode: 0o644,
			content: []byte(strings.ReplaceAll(meant, "NAME", p.name))}), nil
}

// digests are those of a package's files for `dpkg --verify`. Settings are not among them, since operators change
// these.
func digests(list []file) []byte {
	var b strings.Builder
	for _, f := range list {
		if !f.isSettings {
			sum := md5.Sum(f.content) // deb-md5sums(5) knows no other; SHA256SUMS and its signature protect the package
			fmt.Fprintf(&b, "%s  %s\n", hex.EncodeToString(sum[:]), strings.TrimPrefix(f.path, "/"))
		}
	}
	return []byte(b.String())
}

// folded is a text as the extended description of a package: lines of up to 78 characters that begin with a space.
func folded(text string) string {
	var b strings.Builder
	width := 0
	for _, word := range strings.Fields(text) {
		if width > 0 && width+1+len(word) > 77 {
			b.WriteString("\n")
			width = 0
		}
		b.WriteString(" " + word)
		width += 1 + len(word)
	}
	return b.String()
}
