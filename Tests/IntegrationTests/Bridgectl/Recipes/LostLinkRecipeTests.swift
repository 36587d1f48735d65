import BridgeFaults
import Foundation
import Testing

/// The recipes of docs/recipes.md in which a tool outlives its links: these are cut in its midst,
/// each after so many bytes, and it sees nothing of it.
@Suite("RecipeTests over lost links", .timeLimit(.minutes(5))) struct LostLinkRecipeTests {
  @Test(.enabled(if: Recipe.isInstalled("git"), "git is not installed"))
  func gitClonesAndPushes() async throws {
    try await withRecipe { recipe in
      try await recipe.outlives(
        """
        set -e; export GIT_SSH_COMMAND=$B; git init -q --bare there.git; git init -q here; cd here
        cp ../data .; git add data; git commit -qm one
        git push -q "box:$HOME/try/there.git" HEAD:main
        git clone -q "box:$HOME/try/there.git" ../again; cmp data ../again/data
        """)
    }
  }

  @Test(.enabled(if: Recipe.isInstalled("rsync"), "rsync is not installed"))
  func rsyncCopiesBothWays() async throws {
    try await withRecipe { recipe in
      try await recipe.outlives(
        """
        set -e; rsync -a -e "$B" data "box:$HOME/try/there"; cmp data there
        rsync -a -e "$B" "box:$HOME/try/there" back; cmp data back
        """)
    }
  }

  @Test func sftpCopiesBothWays() async throws {
    try await withRecipe { recipe in
      try await recipe.outlives(
        """
        set -e; cd; printf 'put try/data %s\\nget %s try/back\\n' ~/try/there ~/try/there |
          sftp -q -D "$B box -- \(sftpServer)" -b - > /dev/null
        cd try; cmp data there; cmp data back
        """)
    }
  }

  @Test(.enabled(if: Recipe.canMount, "sshfs is not installed, or there is no /dev/fuse"))
  func aMountedDirectoryStays() async throws {
    try await withRecipe { recipe in
      try await recipe.outlives(
        """
        set -e; printf '#!/bin/sh\\nexec %s box -- \(sftpServer)\\n' "$B" > files; chmod +x files
        mkdir there mnt; sshfs -o ssh_command="$PWD/files" -o direct_io "box:$HOME/try/there" mnt
        trap 'fusermount3 -u mnt' EXIT; cp data mnt/; cmp data there/data; cmp data mnt/data
        """)
    }
  }

  @Test(.enabled(if: Recipe.isInstalled("borg"), "borg is not installed"))
  func borgMakesAndReadsAnArchive() async throws {
    try await withRecipe { recipe in
      try await recipe.outlives(
        """
        set -e; export BORG_RSH=$B R="box:$HOME/try/repo"; borg init -e none "$R"
        borg create "$R::one" data; mkdir back; cd back; borg extract "$R::one"; cmp ../data data
        """)
    }
  }

  @Test(.enabled(if: Recipe.isInstalled("parallel"), "parallel is not installed"))
  func parallelRunsEachJobOnce() async throws {
    try await withRecipe { recipe in
      try await recipe.outlives(
        #"""
        export PARALLEL_HOME=$HOME/try
        seq 3 | parallel --ssh "$B" -S 1/box -k "echo {} >> $PWD/ran; cat $PWD/data; echo {}" > out
        for n in 1 2 3; do cat data; echo $n; done | cmp out - && cat ran
        """#, writing: "1\n2\n3\n")
    }
  }

  /// Options that change nothing for `ssh` are not taken: ansible's own are left out.
  @Test(.enabled(if: Recipe.isInstalled("ansible"), "ansible is not installed"))
  func aPlayGoesOn() async throws {
    try await withRecipe { recipe in
      try await recipe.outlives(
        #"""
        set -e; printf '#!/bin/sh\nexec %s "$@"\n' "$B" > ssh; chmod +x ssh
        export ANSIBLE_SSH_EXECUTABLE=$PWD/ssh ANSIBLE_SSH_ARGS=-oControlMaster=no
        export ANSIBLE_SSH_TRANSFER_METHOD=piped ANSIBLE_NOCOLOR=1
        export ANSIBLE_HOME=$HOME/try ANSIBLE_PYTHON_INTERPRETER=/usr/bin/python3
        ansible -i box, all -m copy -a "src=data dest=$HOME/try/there" > words; cmp data there
        """#)
    }
  }

  /// docker finds `ssh` by its name only: a script of that name, first in PATH. It kills that at
  /// its end, so that what is left on the host ends without a client.
  @Test(.enabled(if: Recipe.isInstalled("docker"), "docker is not installed"))
  func dockerKeepsItsConnection() async throws {
    try await withEngine { recipe in
      let lines = (0..<3_000).map { "0000" + hex($0) + "\n" }
      try await recipe.outlives(
        #"""
        mkdir own; printf '#!/bin/sh\nexec %s --keep 10s "$@"\n' "$B" > own/ssh; chmod +x own/ssh
        PATH="$PWD/own:$PATH" DOCKER_HOST=ssh://box docker ps -q
        """#, cuttingAfter: 60_000, writing: lines.joined())
    }
  }

  private func hex(_ number: Int) -> String {
    let text = String(number, radix: 16)
    return String(repeating: "0", count: 8 - text.count) + text
  }

  /// Debian's place for it.
  private var sftpServer: String { "/usr/lib/openssh/sftp-server" }
}
