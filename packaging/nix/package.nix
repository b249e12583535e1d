# nix build, or callPackage ./packaging/nix/package.nix { } from a package set.
{ lib, rustPlatform }:

let
  manifest = lib.importTOML ../../Cargo.toml;
in
rustPlatform.buildRustPackage {
  pname = "flyball";
  version = manifest.workspace.package.version;
  src = lib.cleanSource ../..;
  cargoLock.lockFile = ../../Cargo.lock;

  buildType = "dist";
  cargoBuildFlags = [ "-p" "flyball" ];
  # The others measure the machine, which a build sandbox hides.
  cargoTestFlags = [ "-p" "flyball-pelt" "-p" "flyball-governors" "-p" "flyball-sim" ];
  checkType = "debug";

  # Man pages, completions and units.
  postInstall = ''
    $out/bin/flyball install --prefix $out
    install -Dm644 -t $out/share/licenses/flyball LICENSE-MIT LICENSE-APACHE crates/reproduce/data/LICENSE-CORTEX
  '';

  meta = {
    description = "Laboratory and controller for CPU frequency scaling";
    homepage = manifest.workspace.package.repository;
    license = with lib.licenses; [ mit asl20 ];
    mainProgram = "flyball";
    platforms = [ "x86_64-linux" "aarch64-linux" ];
  };
}
