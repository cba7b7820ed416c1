package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/bursar/bursar/test/pins"
)

// litestream copies a SQLite database continuously. It is built from its own source without the destinations that no
// test uses: with the libraries of seven clouds and servers it takes 277 s of CPU time to compile, without them 114, of
// which 54 are the standard library's. The replica in a folder, and all that reads the database, is as it is released.
type litestream struct{ goProgram }

func newLitestream(m machine) litestream {
	const source = "github.com/benbjohnson/litestream"
	return litestream{goProgram{m, "litestream", pins.Litestream, source, "BURSAR_LITESTREAM"}}
}

// destinations are the packages that are left out, with the fields that the command sets (litestream 0.5.18,
// cmd/litestream/main.go) and what else it uses of them.
var destinations = map[string]struct{ fields, functions string }{
	"abs": {"AccountName, AccountKey, SASToken, Endpoint, Bucket, Path string", ""},
	"gs":  {"Bucket, Path string", ""},
	"nats": {`URL, BucketName, Path, JWT, Seed, Creds, NKey, Username, Password, Token, ClientCert, ClientKey string
	TLS bool
	RootCAs []string
	MaxReconnects int
	ReconnectWait, Timeout time.Duration`, ""},
	"oss": {`AccessKeyID, AccessKeySecret, Region, Bucket, Path, Endpoint string
	PartSize int64
	Concurrency int`, "func ParseHost(string) (bucket, region, endpoint string) { panic(\"left out\") }"},
	"s3": {`AccessKeyID, SecretAccessKey, Region, Bucket, Path, Endpoint, StorageClass string
	SSECustomerAlgorithm, SSECustomerKey, SSEKMSKeyID string
	ForcePathStyle, SkipVerify, SignPayload, SignAcceptEncoding, RequireContentMD5, PutObjectContentMD5 bool
	PartSize int64
	Concurrency int`, `const DefaultR2Concurrency, DefaultTigrisConcurrency, DefaultTigrisPartSize = 2, 2, 16 << 20

func ParseHost(string) (bucket, region, endpoint string, forcePathStyle bool) { panic("left out") }`},
	"sftp":   {"Host, User, Password, Path, KeyPath, HostKey string; ConcurrentWrites bool", ""},
	"webdav": {"URL, Username, Password, Path string; Timeout time.Duration", ""},
}

// stub is a destination that cannot be used: it has every method, and no implementation of one.
func stub(name string) string {
	d := destinations[name]
	imports := `"github.com/benbjohnson/litestream"`
	if strings.Contains(d.fields, "time.") {
		imports += "; \"time\""
	}
	return fmt.Sprintf("package %s\n\nimport (%s)\n\ntype ReplicaClient struct {\n\tlitestream.ReplicaClient\n\t%s\n}\n\n"+
		"func NewReplicaClient() *ReplicaClient { return &ReplicaClient{} }\n\n%s\n", name, imports, d.fields, d.functions)
}

// Install copies the source that Go has checked, replaces what is left out, and builds the command.
func (l litestream) Install(ctx context.Context) error {
	return l.replace(l.name+"-"+l.version, func(work string) error {
		source, err := l.source(ctx)
		if err != nil {
			return err
		}
		copied, err := os.MkdirTemp(work, "source-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(copied)
		if err := l.copy(source, copied); err != nil {
			return err
		}
		c := line("go", "build", "-o", filepath.Join(work, l.name), "./cmd/litestream")
		c.folder, c.env = copied, alone
		l.say("   " + c.String())
		if err := l.run(ctx, c); err != nil {
			return fmt.Errorf("%s: %w", c, err)
		}
		return nil
	})
}

// source downloads the source and returns its directory.
func (l litestream) source(ctx context.Context) (string, error) {
	c := line("go", "mod", "download", "-json", l.goProgram.source+"@v"+l.version)
	c.folder, c.env = os.TempDir(), alone
	text, err := l.read(ctx, c)
	var module struct{ Dir string }
	if err == nil {
		err = json.Unmarshal([]byte(text), &module)
	}
	if err != nil || module.Dir == "" {
		return "", fmt.Errorf("%s: %w", c, err)
	}
	return module.Dir, nil
}

// fetch downloads the source; its libraries come with the build.
func (l litestream) fetch(ctx context.Context) error {
	_, _ = l.source(ctx) // Install tries again, and says what is wrong
	return nil
}

// copy copies what the command is built from, and writes the stubs.
func (l litestream) copy(from, to string) error {
	for _, pattern := range []string{"go.*", "*.go", "cmd/litestream/*.go", "file/*.go", "internal/*.go"} {
		files, err := filepath.Glob(filepath.Join(from, pattern))
		if err != nil {
			return err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err == nil && !strings.HasSuffix(file, "_test.go") {
				err = written(filepath.Join(to, strings.TrimPrefix(file, from)), text)
			}
			if err != nil {
				return err
			}
		}
	}
	for name := range destinations {
		if err := written(filepath.Join(to, name, name+".go"), []byte(stub(name))); err != nil {
			return err
		}
	}
	return nil
}

// written writes a file and its directory.
func written(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}
