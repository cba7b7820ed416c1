# The targets say what the README's commands do; nothing here is needed to use the project.
.PHONY: check test short sandbox build release release-binaries reproducible fuzz bench

# What CI runs: formatting, vet, golangci-lint and every test.
check:   ; .ci/run
test:    ; go run ./test
short:   ; go run ./test -short
sandbox: ; CGO_ENABLED=0 go run ./sandbox
build:
	go build -trimpath -o bin/bursar ./cmd/bursar
	CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o bin/bursar-signer ./cmd/bursar-signer
	CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o bin/bursar-approve ./cmd/bursar-approve

# What is released, in dist: programs, lists of their parts, digests. With KEY, a secret key of minisign, a signature.
# The release of Go that builds also packs: another one would compress differently.
release:          ; GOTOOLCHAIN=$$(cat release/toolchain.txt) go run ./release -packages -out dist $(if $(KEY),-key $(KEY))
release-binaries: ; go run ./release -out dist $(if $(KEY),-key $(KEY))
# Builds everything twice, packages and images too, in two folders with empty caches, and compares byte for byte. It takes
# minutes.
reproducible:     ; GOTOOLCHAIN=$$(cat release/toolchain.txt) go run ./release -check -packages

# Every fuzz target for FUZZTIME.
FUZZTIME ?= 20s
fuzz:
	@for package in $$(go list ./...); do \
	  for target in $$(go test -list '^Fuzz' $$package | grep '^Fuzz'); do \
	    echo "$$package $$target"; go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 5x $$package || exit 1; \
	  done; \
	done

bench:
	go run ./bench --quick
	go test -run '^$$' -bench . -benchtime 3s ./store ./api ./deposit ./chain/bitcoin ./webhook
