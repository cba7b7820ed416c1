package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/bursar/bursar/bursartest/replicas"
)

// recordedFile keeps the sums of histories: a line each, with the seed or the kept plan's file and the sum of each
// event.
const recordedFile = "testdata/recorded.txt"

// recording is a history and the sums of its events.
type recording struct {
	name string // a seed, or the file of a plan in testdata
	sums []string
}

// readRecordings reads a file of recordings. Lines that begin with # are comments.
func readRecordings(file string) (comment string, list []recording, err error) {
	f, err := os.Open(file)
	if err != nil {
		return "", nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "#") {
			comment += lines.Text() + "\n"
		} else if words := strings.Fields(lines.Text()); len(words) > 0 {
			list = append(list, recording{words[0], words[1:]})
		}
	}
	return comment, list, lines.Err()
}

// plan returns the plan of a recorded history; dir is the folder of kept plans.
func (r recording) plan(dir string) (Plan, error) {
	if seed, err := strconv.ParseUint(r.name, 10, 64); err == nil {
		return generate(seed, defaultLength), nil
	}
	return read(filepath.Join(dir, r.name))
}

// again runs the history and returns its recording now.
func (r recording) again(dir string, template *replicas.Template) (recording, error) {
	p, err := r.plan(dir)
	if err != nil {
		return recording{}, err
	}
	result := run(p, Setting{Template: template, Record: true})
	return recording{r.name, result.Sums}, result.Err
}

// differs returns the first event in which another recording of the same history differs; -1: none does.
func (r recording) differs(other recording) int {
	for i, sum := range r.sums {
		if i >= len(other.sums) || other.sums[i] != sum {
			return i
		}
	}
	if len(other.sums) > len(r.sums) {
		return len(r.sums)
	}
	return -1
}

// recordAgain runs all histories of a file of recordings and writes their present sums.
func recordAgain(file string, template *replicas.Template, workers int) error {
	comment, list, err := readRecordings(file)
	if err != nil {
		return err
	}
	next := make(chan int)
	errs := make([]error, len(list))
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for i := range next {
				list[i], errs[i] = list[i].again(filepath.Dir(file), template)
			}
		})
	}
	for i := range list {
		next <- i
	}
	close(next)
	group.Wait()
	text := comment
	for i, r := range list {
		if errs[i] != nil {
			return fmt.Errorf("%s fails and is not recorded: %w", r.name, errs[i])
		}
		text += r.name + " " + strings.Join(r.sums, " ") + "\n"
	}
	return os.WriteFile(file, []byte(text), 0o644)
}
