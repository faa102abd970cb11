"""The site as a zip that works from a folder, without a server and a network.

    links    every local link names the file it leads to
    search   the index as a script, searched without a Worker
    copy     all files of the copy
    archive  the zip, the same bytes for the same files

The built site is changed, not built a second time.
"""
