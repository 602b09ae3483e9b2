package main

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var buildImage = flag.Bool("image", false, "build the image of the Dockerfile")

// mostImage is the most bytes of the image of ashlar serve.
const mostImage = 30e6

// TestImage builds the image of the Dockerfile, as its comment says, with buildah in place of docker. The image holds the program alone,
// and the program runs there.
func TestImage(t *testing.T) {
	if !*buildImage {
		t.Skip("skipped: it links a program; -args -image runs it")
	}
	inRoot(t)
	dir := t.TempDir()
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", filepath.Join(dir, "ashlar"), "./cmd/ashlar")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", build.Args, err, out)
	}
	if info, err := os.Stat(filepath.Join(dir, "ashlar")); err != nil || info.Size() > mostImage {
		t.Fatalf("the program has %d bytes, more than %.0f, %v", info.Size(), mostImage, err)
	}
	if _, err := exec.LookPath("buildah"); err != nil || os.Geteuid() != 0 {
		t.Skip("skipped: an image wants buildah and root; apt-get install buildah")
	}
	text, err := os.ReadFile("Dockerfile")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "Dockerfile"), text, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	buildah := func(args ...string) string {
		t.Helper()
		c := exec.Command("buildah", append([]string{"--storage-driver", "vfs", "--root", filepath.Join(dir, "root"), "--runroot", filepath.Join(dir, "run")}, args...)...)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", c.Args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	buildah("build", "--isolation", "chroot", "-t", "ashlar", dir)
	name := buildah("from", "localhost/ashlar")
	defer buildah("rm", name)
	mounted := buildah("mount", name)
	list, err := os.ReadDir(mounted)
	buildah("umount", name)
	if err != nil || len(list) != 1 || list[0].Name() != "ashlar" {
		t.Errorf("the image holds %v, %v", list, err)
	}
	if out := buildah("run", "--isolation", "chroot", name, "--", "/ashlar", "version"); !strings.Contains(out, "kernels") {
		t.Errorf("ashlar version in the image: %s", out)
	}
	if out := buildah("inspect", "--format", "{{.OCIv1.Config.Entrypoint}}", name); out != "[/ashlar serve --listen :8000]" {
		t.Errorf("the entry is %s", out)
	}
}
