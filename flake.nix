{
  description = "Flyball: laboratory and controller for CPU frequency scaling";

  # A package set whose Rust is as new as Cargo.toml's rust-version.
  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixpkgs-unstable";

  outputs = { self, nixpkgs }:
    let
      each = nixpkgs.lib.genAttrs [ "x86_64-linux" "aarch64-linux" ];
    in {
      packages = each (system: {
        default = nixpkgs.legacyPackages.${system}.callPackage ./packaging/nix/package.nix { };
      });
      devShells = each (system: {
        default = nixpkgs.legacyPackages.${system}.mkShell {
          packages = with nixpkgs.legacyPackages.${system}; [ cargo clippy rustfmt stress-ng ];
        };
      });
    };
}
