package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// ownGroup moves the program and its children to a scheduling group of their own, by a new session. Programs of other sessions then
// take no more than their groups' shares. The group gets the largest weight that the system allows.
func ownGroup() error {
	session, _, _ := syscall.Syscall(syscall.SYS_GETSID, 0, 0, 0)
	if int(session) != os.Getpid() { // else it leads a session already
		if _, err := syscall.Setsid(); err != nil {
			return fmt.Errorf("a session of its own: %w; start it by setsid", err)
		}
	}
	err := os.WriteFile("/proc/self/autogroup", []byte("-20"), 0)
	if errors.Is(err, os.ErrPermission) {
		err = nil // it keeps the usual weight
	}
	return err
}

// group names the scheduling group and its weight.
func group() string {
	b, err := os.ReadFile("/proc/self/autogroup")
	if err != nil {
		return "none"
	}
	_, weight, _ := strings.Cut(strings.TrimSpace(string(b)), " ")
	return weight
}
