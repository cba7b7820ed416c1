package host

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Shield forbids others of the same user to read or trace the memory of this process, and makes it leave no core; see
// PR_SET_DUMPABLE(2const) and core(5). A privileged process still can.
func Shield() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("keep others from reading this process: %w", err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("forbid core files: %w", err)
	}
	return nil
}

// lockMemory keeps this process out of swap; see mlockall(2). MCL_ONFAULT locks a page when it is first used: the
// runtime of Go reserves address space far beyond what it uses, and gives memory back by mapping it again, where
// without MCL_ONFAULT it would all be filled at once. Reserved space counts against RLIMIT_MEMLOCK too, and a mapping
// over the limit ends the process later, so only an unlimited process is locked.
func lockMemory() error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &limit); err != nil {
		return fmt.Errorf("read the limit of locked memory: %w", err)
	}
	if limit.Cur != unix.RLIM_INFINITY && !mayLockAll() {
		return errNoLock
	}
	err := unix.Mlockall(unix.MCL_CURRENT | unix.MCL_FUTURE | unix.MCL_ONFAULT)
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOMEM) {
		return errNoLock
	}
	if err != nil {
		return fmt.Errorf("lock the memory: %w", err)
	}
	return nil
}

// mayLockAll reports whether the process has CAP_IPC_LOCK, which no limit applies to.
func mayLockAll() bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	if unix.Capget(&header, &sets[0]) != nil {
		return false
	}
	return sets[unix.CAP_IPC_LOCK/32].Effective&(1<<(unix.CAP_IPC_LOCK%32)) != 0
}
