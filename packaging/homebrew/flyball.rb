# Flyball from its sources. scripts/release fills in the version and the checksum of the archive of sources.
class Flyball < Formula
  desc "Laboratory and controller for CPU frequency scaling"
  homepage "https://github.com/flyball/flyball"
  url "https://github.com/flyball/flyball/releases/download/v@VERSION@/flyball-@VERSION@.tar.gz"
  sha256 "@SHA256@"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on "rust" => :build
  # The program measures Linux. The crates of its model and its reports build for macOS (docs/packages.md).
  depends_on :linux

  def install
    system "cargo", "install", *std_cargo_args(path: "crates/cli"), "--profile", "dist"
    # Man pages and completions; units only where systemd looks for them.
    system bin/"flyball", "install", "--prefix", prefix
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/flyball --version")
    assert_match "util_avg", shell_output("#{bin}/flyball sim rampup-m1 --phases 2")
  end
end
