package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The image of a candidate gets the tag that docs/operations/packages.md and compose.yaml give it. Package managers
// need a tilde in its version, which neither a tag nor a reference of OCI may have (image-spec 1.1, annotations.md;
// distribution-spec 1.1, "Pulling manifests").
func TestTheImageOfACandidateCanBeTagged(t *testing.T) {
	t.Parallel()
	need(t, "skopeo")
	b, out := built(t)
	name, err := b.image("bursar", out, "1.0.0~rc.1")
	if err != nil {
		t.Fatal(err)
	}
	if want := "bursar-1.0.0-rc.1.oci.tar"; name != want {
		t.Fatalf("the image is %s, want %s", name, want)
	}
	from, to := "oci-archive:"+filepath.Join(out, name), "docker-archive:"+filepath.Join(t.TempDir(), "bursar.tar")
	// What is documented, with an archive in the place of Docker's daemon, and the image found by its reference.
	for _, source := range []string{from, from + ":1.0.0-rc.1"} {
		prints(t, "skopeo", "copy", "--quiet", "--override-arch", "amd64", source, to+":bursar:1.0.0-rc.1")
		to += "2"
	}
	if said := prints(t, "skopeo", "inspect", "--override-arch", "amd64", from); !strings.Contains(said,
		`"org.opencontainers.image.version": "1.0.0-rc.1"`) {
		t.Errorf("skopeo says\n%s\nwant the tag as the image's version", said)
	}
}

// What no package manager compares is named as the tag is, also before there is one.
func TestFilesAreNamedAfterTheTag(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{"1.0.0~rc.1": "1.0.0-rc.1", "1.0.0": "1.0.0",
		"0.0.0~20261128.0bc": "0.0.0-20261128.0bc"} {
		if got := tagged(version); got != want {
			t.Errorf("%s is named %s, want %s", version, got, want)
		}
	}
	need(t, "dpkg-deb", "rpmbuild")
	b, out := built(t)
	names, err := b.allPackages(t.Context(), out, "1.0.0~rc.1")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"bursar_1.0.0~rc.1_amd64.deb", "bursar-1.0.0~rc.1-1.x86_64.rpm",
		"bursar-1.0.0-rc.1-linux-amd64.tar.gz", "bursar-signer-1.0.0-rc.1.oci.tar"} {
		if !slices.Contains(names, want) {
			t.Errorf("the files are %q, want %s among them", names, want)
		}
	}
}
