// A list of posts with likes, in Flutter. A row watches while it is on the screen.

import 'dart:async';

import 'package:cloud_firestore/cloud_firestore.dart';
import 'package:flutter/material.dart';

import 'tally.dart';

class Post {
  const Post(this.id, this.title);

  final String id;
  final String title;
}

class PostList extends StatelessWidget {
  const PostList({super.key, required this.posts, required this.uid});

  final List<Post> posts;
  final String uid;

  @override
  Widget build(BuildContext context) {
    return ListView.builder(
      itemCount: posts.length,
      // A key of post and user: a row never shows the state of another one.
      itemBuilder: (_, n) => PostRow(key: ValueKey('${posts[n].id} $uid'), post: posts[n], uid: uid),
    );
  }
}

class PostRow extends StatefulWidget {
  const PostRow({super.key, required this.post, required this.uid});

  final Post post;
  final String uid;

  @override
  State<PostRow> createState() => _PostRowState();
}

class _PostRowState extends State<PostRow> {
  late final likes = TallyCounter.of(FirebaseFirestore.instance, 'likes:${widget.post.id}');
  final _watches = <StreamSubscription<void>>[];
  int? _total;
  bool? _isLiked;
  bool _hasFailed = false;

  // In initState, not in build: build runs at every change.
  @override
  void initState() {
    super.initState();
    final own = likes.onIncremented(once: widget.uid);
    _watches.add(likes.watch().listen((read) => setState(() => _total = read.wholeTotal), onError: _failed));
    _watches.add(own.listen((counts) => setState(() => _isLiked = counts), onError: _failed));
  }

  @override
  void dispose() {
    for (final watch in _watches) {
      watch.cancel();
    }
    super.dispose();
  }

  void _failed(Object error) {
    // The row may have left the screen.
    if (mounted) setState(() => _hasFailed = true);
  }

  Future<void> _toggle() async {
    setState(() => _hasFailed = false);
    try {
      await (_isLiked == true ? likes.undo(once: widget.uid) : likes.increment(once: widget.uid));
    } catch (error) {
      _failed(error);
    }
  }

  @override
  Widget build(BuildContext context) {
    return ListTile(
      title: Text(widget.post.title),
      subtitle: _hasFailed ? const Text('That did not work. Please try again.') : null,
      trailing: TextButton(
        onPressed: _isLiked == null ? null : _toggle,
        child: Text('${_isLiked == true ? '♥' : '♡'} ${_total ?? ''}'),
      ),
    );
  }
}
