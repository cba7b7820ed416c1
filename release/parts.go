package main

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

const partsSuffix = ".cdx.json"

// writeParts writes the list of a program's parts beside it: a bill of materials of CycloneDX 1.6. It is made of what
// Go wrote into the program, so it lists what was linked and nothing else.
func writeParts(program string, at time.Time) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return fmt.Errorf("read what %s was built of: %w", program, err)
	}
	var text bytes.Buffer
	encoder := cdx.NewBOMEncoder(&text, cdx.BOMFileFormatJSON)
	encoder.SetPretty(true)
	if err := encoder.EncodeVersion(parts(filepath.Base(program), info, at), cdx.SpecVersion1_6); err != nil {
		return fmt.Errorf("list the parts of %s: %w", program, err)
	}
	path := program + partsSuffix
	if err := os.WriteFile(path, text.Bytes(), 0o644); err != nil {
		return err
	}
	return os.Chtimes(path, at, at)
}

// parts lists the modules that were linked, Go's standard library first. It has no random serial number.
func parts(name string, info *buildinfo.BuildInfo, at time.Time) *cdx.BOM {
	goVersion := strings.TrimPrefix(strings.Fields(info.GoVersion)[0], "go")
	components := []cdx.Component{component("std", goVersion, "")}
	for _, m := range info.Deps {
		for m.Replace != nil {
			m = m.Replace
		}
		components = append(components, component(m.Path, m.Version, m.Sum))
	}
	whole := component(info.Main.Path, info.Main.Version, "")
	whole.Type, whole.Name = cdx.ComponentTypeApplication, name
	var settings []cdx.Property
	for _, s := range info.Settings {
		settings = append(settings, cdx.Property{Name: "go:build:" + s.Key, Value: s.Value})
	}
	whole.Properties = &settings
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Timestamp: at.UTC().Format(time.RFC3339), Component: &whole}
	bom.Components = &components
	return bom
}

// component describes a module. Its sum is that of go.sum.
func component(path, version, sum string) cdx.Component {
	url := "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
	c := cdx.Component{BOMRef: url, Type: cdx.ComponentTypeLibrary, Name: path, Version: version, PackageURL: url}
	if sum != "" {
		c.Properties = &[]cdx.Property{{Name: "go:sum", Value: sum}}
	}
	return c
}
