// The person who logs in: goes where they are sent, and follows every redirect.
await fetch(process.argv[2], { redirect: 'follow' })
