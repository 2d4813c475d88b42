# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Sourced by the other scripts: messages, package installation, and the stamp that tells
# an unchanged tree from a changed one. Expects the repository root as the working directory.

say() {
  printf '\n== %s\n' "$*"
}

# Ends the script with one line.
fail() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

is_installed() {
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

has_candidate() {
  [[ $(LC_ALL=C apt-cache policy "$1" 2>/dev/null) =~ Candidate:\ [^\(] ]]
}

# any_of <predicate> <a|b|c>: prints the first alternative for which the predicate holds.
any_of() {
  local name
  for name in ${2//|/ }; do
    if "$1" "$name"; then
      printf '%s\n' "$name"
      return 0
    fi
  done
  return 1
}

# as_administrator <command...>: runs it as root, through sudo if need be.
as_administrator() {
  if [ "$(id -u)" = 0 ]; then
    DEBIAN_FRONTEND=noninteractive "$@"
  elif [ -t 0 ]; then
    sudo env DEBIAN_FRONTEND=noninteractive "$@"
  else
    sudo -n env DEBIAN_FRONTEND=noninteractive "$@"
  fi
}

# Ends the script unless packages can be installed; the arguments are what is missing.
need_privilege() {
  local first=() need
  [ "$(id -u)" != 0 ] || return 0
  if command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then return 0; fi
  for need in "$@"; do first+=("${need%%|*}"); done
  fail "no right to install packages; an administrator can: apt-get install ${first[*]}"
}

# install_packages <group...>: installs what those groups of packages.txt lack.
install_packages() {
  local group need chosen packages=() missing=() log=build/packages.log
  command -v apt-get >/dev/null || {
    echo "no apt-get here: taking for granted what scripts/packages.txt lists"
    return 0
  }
  while read -r group need _; do
    case " $* " in
      *" $group "*) any_of is_installed "$need" >/dev/null || missing+=("$need") ;;
    esac
  done < <(sed 's/#.*//; /^[[:space:]]*$/d' scripts/packages.txt)
  if [ ${#missing[@]} = 0 ]; then
    echo "all packages are installed"
    return 0
  fi
  need_privilege "${missing[@]}"
  echo "missing: ${missing[*]}"
  echo "updating the package lists"
  as_administrator apt-get update -o APT::Update::Error-Mode=any >"$log" 2>&1 ||
    echo "cannot update them (log: $log); trying with those at hand"
  for need in "${missing[@]}"; do
    chosen=$(any_of has_candidate "$need") ||
      fail "the package sources in /etc/apt have no ${need//|/ or } (log: $log)"
    packages+=("$chosen")
  done
  echo "installing: ${packages[*]}"
  as_administrator apt-get install -y --no-install-recommends "${packages[@]}" >>"$log" 2>&1 ||
    fail "cannot install ${packages[*]}: $(grep '^E:' "$log" | tail -n 1) (log: $log)"
}

# Ends the script when CMake is too old for the presets.
need_cmake() {
  local version
  version=$(cmake --version | sed -n 's/^cmake version //p')
  printf '3.25\n%s\n' "$version" | sort -V -C || fail "needs CMake 3.25 or later, found $version"
}

# Names of all files that the build can see, separated by NUL.
list_files() {
  if ! git ls-files -z --cached --others --exclude-standard 2>/dev/null; then
    find . \( -path ./build -o -path ./.git -o -name __pycache__ \) -prune -o -type f -print0
  fi
}

# One word for the content of the tree and the compilers that read it.
tree_hash() {
  {
    list_files | sort -z | while IFS= read -r -d '' file; do
      [ -f "$file" ] && printf '%s\0' "$file"
    done | xargs -0 sha256sum
    for compiler in g++ clang++; do
      command -v "$compiler" >/dev/null && "$compiler" --version
    done
    true
  } | sha256sum | cut -d ' ' -f 1
}

# finish_if_unchanged <name> <file it made> <hash>: ends the script with the summary of the last good run.
finish_if_unchanged() {
  local stamp=build/$1.stamp
  if [ -f "$stamp" ] && [ -e "$2" ] && [ "$(head -n 1 "$stamp")" = "$3" ]; then
    echo "Nothing has changed since $(date -r "$stamp" '+%Y-%m-%d %H:%M:%S'); that run ended with:"
    tail -n +2 "$stamp"
    echo "(run it all again: scripts/$1.sh --force)"
    exit 0
  fi
}

# remember <name> <hash> <summary file>: stores the summary of a good run.
remember() {
  { printf '%s\n' "$2"; cat "$3"; } >"build/$1.stamp"
}

# find_clang_tool <name>: prints the command for version 14 of a clang tool.
find_clang_tool() {
  local candidate
  for candidate in "$1-14" "$1"; do
    if [[ $("$candidate" --version 2>/dev/null) == *'version 14.'* ]]; then
      printf '%s\n' "$candidate"
      return 0
    fi
  done
  return 1
}

# Prints $MIRROR, or the first archive of Debian among apt's, without its updates and security fixes.
first_mirror() {
  local mirror=${MIRROR:-$(apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(ORIGIN)' 'Created-By: Packages' |
    awk '$3 == "Debian" && $2 !~ /-/ { print $1; exit }')}
  [ -n "$mirror" ] || fail "apt uses no mirror of Debian; name one by MIRROR="
  printf '%s\n' "$mirror"
}

# inside <folder of the system> <command...>: runs it there, with a /proc that ends with it.
inside() {
  local root=$1
  shift
  unshare --mount --fork sh -c 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"' "$root" \
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
}
