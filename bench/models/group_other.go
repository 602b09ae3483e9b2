//go:build !linux

package main

import "errors"

func ownGroup() error { return errors.New("-group needs Linux") }

func group() string { return "none" }
