# SPDX-License-Identifier: GPL-2.0
"""How checkpatch is asked, of mails and of commits."""

# MAINTAINERS has the drivers' folders, and get_maintainer shows whether it knows
# added files. The tree has no history in which a commit that is named could be found.
CHECKPATCH = ('scripts/checkpatch.pl', '--strict', '--terse', '--ignore', 'FILE_PATH_CHANGES,UNKNOWN_COMMIT_ID')
